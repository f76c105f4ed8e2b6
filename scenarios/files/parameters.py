"""Parameters of an input file: `${NAME:-default}`, given by `--set NAME=value`.

There is no templating language: a parameter stands inside one value, and what is put there is text
that is never read as YAML. Without quotes the result may be a number or a boolean; inside quotes it
stays text. `$${` stands for a plain `${`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scenarios.files.phrases import nearest
from simulator.errors import ScenarioError

_PARAMETER: Final = re.compile(r"\$\$\{|\$\{[^}\n]*\}")
_INSIDE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OPEN: Final = "\ue000"
_FILL: Final = "\ue001"
_FIRST_NUMBER: Final = 0xE100
_PARAMETERS_MAX: Final = 4_000
_HIDDEN: Final = re.compile(f"{_OPEN}([\ue100-\uf0ff]){_FILL}*")


def read_settings(settings: Iterable[str]) -> dict[str, str]:
    """Read `--set` arguments of the form `NAME=value`.

    Raises:
        ScenarioError: An argument has another form.
    """
    values = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not _NAME.fullmatch(name):
            reason = f"--set {setting}: write NAME=value, with letters, digits and _ in the name"
            raise ScenarioError(reason)
        values[name] = value
    return values


def check_settings(
    settings: Mapping[str, str], known: Iterable[Iterable[str]], noun: str = "scenario"
) -> None:
    """Check that every setting is a parameter of some file.

    Args:
        settings: The settings.
        known: Parameters of each.
        noun: What the files hold.

    Raises:
        ScenarioError: One is not.
    """
    parameters = sorted({name for names in known for name in names})
    for name in settings:
        if name not in parameters:
            there = nearest(name, parameters) if parameters else f"; the {noun} has none"
            reason = f"--set {name}: no such parameter{there}"
            raise ScenarioError(reason)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text in which stand-ins of the same length take the place of parameters.

    Braces would be YAML's own inside `{…}`; stand-ins of private-use characters are not, and every
    other character keeps its line and column.
    """

    text: str
    parameters: tuple[str, ...]

    def filled(self, text: str, values: Mapping[str, str], used: set[str]) -> str:
        """Return a part of the text with the values of its parameters.

        Args:
            text: A scalar of `self.text`.
            values: The settings.
            used: Gets the names of the parameters in `text`.

        Raises:
            ValueError: A parameter has neither value nor default, or is malformed.
        """

        def value(match: re.Match[str]) -> str:
            written = self.parameters[ord(match.group(1)) - _FIRST_NUMBER]
            return _value(written, values, used)

        return _HIDDEN.sub(value, text) if self.parameters and _OPEN in text else text


def hide_parameters(text: str) -> Hidden:
    """Put stand-ins in place of the parameters of a file.

    Raises:
        ValueError: The text has too many parameters, or holds the stand-ins' own character.
    """
    if "${" not in text:
        return Hidden(text, ())
    if _OPEN in text:
        reason = "a file with parameters cannot hold the private-use character U+E000"
        raise ValueError(reason)
    written: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        written.append(match.group(0))
        number = chr(_FIRST_NUMBER + min(len(written), _PARAMETERS_MAX) - 1)
        return f"{_OPEN}{number}".ljust(len(match.group(0)), _FILL)

    hidden = _PARAMETER.sub(stand_in, text)
    if len(written) > _PARAMETERS_MAX:
        reason = f"the file has {len(written)} parameters, at most {_PARAMETERS_MAX} are read"
        raise ValueError(reason)
    return Hidden(hidden, tuple(written))


def _value(written: str, values: Mapping[str, str], used: set[str]) -> str:
    if written == "$${":
        return "${"
    match = _INSIDE.fullmatch(written)
    if match is None:
        reason = f"{written[:60]} is not a parameter; write ${{NAME}} or ${{NAME:-default}}"
        raise ValueError(reason)
    name, default = match.groups()
    used.add(name)
    value = values.get(name, default)
    if value is None:
        reason = (
            f"the parameter {name} has no value; "
            f"give --set {name}=VALUE or write ${{{name}:-default}}"
        )
        raise ValueError(reason)
    return str(value)
