"""Documents as the text of a scenario file, which is read back as exactly these values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import yaml
from typing_extensions import override

from scenarios.files.documents import Plain, resolve
from scenarios.schema.variants import Persistence, written_option

WIDTH: Final = 100
"""Lines are not longer than this, as far as YAML can break them."""
_FLOW_MAX: Final = 88
"""Longest map or list, in characters of its plain form, that stands in one line."""


class _Dumper(yaml.SafeDumper):
    """Writes text in quotes wherever a scenario would take it for something else."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    escaped = value.replace("${", "$${")
    style = None if isinstance(resolve(value), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", escaped, style=style)


def _map(dumper: yaml.SafeDumper, value: dict[str, Plain]) -> yaml.Node:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", value.items())
    node.flow_style = _fits(value)
    return node


def _list(dumper: yaml.SafeDumper, value: list[Plain]) -> yaml.Node:
    node = dumper.represent_sequence("tag:yaml.org,2002:seq", value)
    node.flow_style = _fits(value)
    return node


_Dumper.add_representer(str, _text)
_Dumper.add_representer(dict, _map)
_Dumper.add_representer(list, _list)


def _fits(value: Plain) -> bool:
    return len(str(value)) <= _FLOW_MAX


def scenario_text(documents: Sequence[Plain]) -> str:
    """Return documents as YAML; short maps and lists stand in one line, as people write them."""
    text: str = yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        explicit_start=len(documents) > 1,
    )
    return text


def written_persistence(persistence: Persistence) -> Plain:
    """Return a persistence as a scenario writes it."""
    if not persistence.options:
        return persistence.name
    options: dict[str, Plain] = {
        name: value if isinstance(value, bool) else written_option(value)
        for name, value in persistence.options
    }
    return {persistence.name: options}
