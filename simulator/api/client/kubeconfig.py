"""Reads a kubeconfig: which server, who it is, and as whom one talks to it.

Tokens, client certificates and `exec` plugins are read; a token file and a plugin are asked again
when the server has said 401. Passwords, impersonation and the auth providers that Kubernetes has
dropped are refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import ssl
import subprocess  # an exec plugin is a program that the kubeconfig names
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import yaml

from simulator.api.client.endpoint import ApiEndpoint, endpoint_at, no_token
from simulator.api.dialect.documents import Json, Object, items, mapping, text, texts
from simulator.errors import ConfigError

_SIZE_MAX: Final = 4 * 1024 * 1024
_EXEC_SECONDS: Final = 30
_SHOWN_MAX: Final = 200
_UNSUPPORTED: Final = ("username", "auth-provider", "as", "as-uid", "as-groups", "as-user-extra")
"""What a user may have and nobody heeds here: who left it out would be somebody else."""
_PROXIES: Final = ("http://", "https://")


def read_kubeconfig(path: Path, context: str = "") -> ApiEndpoint:
    """Return the server of a kubeconfig.

    Args:
        path: The file.
        context: Which of its contexts; empty for the current one.

    Raises:
        ConfigError: It is no kubeconfig, or names something that is not there or cannot be used.
        OSError: It cannot be read.
    """
    return _Reading(path, _content(path)).endpoint(context)


def _content(path: Path) -> Object:
    raw = path.read_bytes()
    if len(raw) > _SIZE_MAX:
        reason = f"{path}: a kubeconfig of {len(raw)} bytes is not read; {_SIZE_MAX} are"
        raise ConfigError(reason)
    try:
        found = cast("Json", yaml.safe_load(raw))
    except (yaml.YAMLError, RecursionError, ValueError) as cause:
        reason = f"{path}: it is no kubeconfig: {' '.join(str(cause).split())[:_SHOWN_MAX]}"
        raise ConfigError(reason) from cause
    if not isinstance(found, dict) or not isinstance(found.get("clusters"), list):
        reason = f"{path}: it is no kubeconfig: it has no clusters"
        raise ConfigError(reason)
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    path: Path
    content: Object

    def endpoint(self, context: str) -> ApiEndpoint:
        chosen = context or text(self.content, "current-context")
        if not chosen:
            contexts = self._names("contexts")
            reason = f"no context is chosen; say one with --context: {contexts}"
            raise self._fault(reason)
        found = mapping(self._named("contexts", chosen), "context")
        cluster = mapping(self._named("clusters", text(found, "cluster")), "cluster")
        user_name = text(found, "user")
        user = mapping(self._named("users", user_name), "user") if user_name else {}
        for key in _UNSUPPORTED:
            if key in user:
                reason = (
                    f'the user "{user_name}" has {key}, which is not supported; '
                    "use a token, a client certificate or an exec plugin"
                )
                raise self._fault(reason)
        plugin = self._exec(user, cluster) if "exec" in user else {}
        given = self._checked(text(plugin, "token"))
        tls = self._tls(cluster, {**user, **_as_user(plugin)})
        token = self._token(user, cluster, given)
        try:
            endpoint = endpoint_at(text(cluster, "server"), given or token())
        except ConfigError as cause:
            raise self._fault(str(cause)) from cause
        return replace(
            endpoint,
            token=token,
            tls=tls,
            server_name=text(cluster, "tls-server-name"),
            proxy=self._proxy(cluster) or endpoint.proxy,
        )

    def _proxy(self, cluster: Object) -> str:
        url = text(cluster, "proxy-url")
        if url and not url.startswith(_PROXIES):
            reason = f'the proxy "{url[:_SHOWN_MAX]}" is not supported; http and https ones are'
            raise self._fault(reason)
        return url

    def _checked(self, token: str) -> str:
        """Return a token that can stand in a header."""
        if not token.isprintable() or not token.isascii() or " " in token:
            reason = "a token cannot be used: it has blanks, or what is not printable"
            raise self._fault(reason)
        return token

    def _named(self, part: str, name: str) -> Object:
        for one in items(self.content, part):
            if text(one, "name") == name:
                return one
        reason = f'{part} has no "{name[:80]}"; there are: {self._names(part)}'
        raise self._fault(reason)

    def _names(self, part: str) -> str:
        return ", ".join(text(one, "name") for one in items(self.content, part)) or "none"

    def _fault(self, why: str) -> ConfigError:
        return ConfigError(f"{self.path}: {why}")

    def _beside(self, name: str) -> Path:
        """Return a file that the kubeconfig names: relative to itself."""
        return self.path.parent / name

    def _token(self, user: Object, cluster: Object, given: str) -> Callable[[], str]:
        if "exec" in user:
            first = [given]

            def from_plugin() -> str:
                if first:
                    return first.pop()
                return self._checked(text(self._exec(user, cluster), "token"))

            return from_plugin if given else no_token
        if text(user, "tokenFile"):
            path = self._beside(text(user, "tokenFile"))

            def from_file() -> str:
                try:
                    return self._checked(path.read_text().strip())
                except (OSError, UnicodeDecodeError) as cause:
                    reason = f"{path}: no token can be read: {cause}"
                    raise self._fault(reason) from cause

            return from_file
        token = self._checked(text(user, "token"))
        return (lambda: token) if token else no_token

    def _tls(self, cluster: Object, user: Object) -> ssl.SSLContext | None:
        if not text(cluster, "server").startswith("https:"):
            return None
        try:
            context = self._authority(cluster)
            self._identify(context, user)
        except (OSError, ssl.SSLError, ValueError, binascii.Error) as cause:
            reason = f"a certificate or key cannot be used: {cause}"
            raise self._fault(reason) from cause
        return context

    def _authority(self, cluster: Object) -> ssl.SSLContext:
        data = text(cluster, "certificate-authority-data")
        file = text(cluster, "certificate-authority")
        if data:
            pem = base64.b64decode(data).decode("ascii")
            context = ssl.create_default_context(cadata=pem)
        elif file:
            context = ssl.create_default_context(cafile=self._beside(file))
        else:
            context = ssl.create_default_context()
        if cluster.get("insecure-skip-tls-verify") is True:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _identify(self, context: ssl.SSLContext, user: Object) -> None:
        """Load a client certificate; Python reads them from files only."""
        certificate = self._pem(user, "client-certificate")
        key = self._pem(user, "client-key")
        if certificate is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "client.pem"
            path.touch(0o600)
            path.write_bytes(certificate + b"\n" + (key or b""))
            context.load_cert_chain(path)

    def _pem(self, user: Object, name: str) -> bytes | None:
        data, file = text(user, f"{name}-data"), text(user, name)
        if data:
            return base64.b64decode(data)
        return self._beside(file).read_bytes() if file else None

    def _exec(self, user: Object, cluster: Object) -> Object:
        """Run an exec plugin and return the status of its ExecCredential.

        Raises:
            ConfigError: It cannot be run, or says nothing that can be used.
        """
        plugin = mapping(user, "exec")
        version = text(plugin, "apiVersion") or "client.authentication.k8s.io/v1"
        asked = {
            "apiVersion": version,
            "kind": "ExecCredential",
            "spec": {"interactive": False, "cluster": {"server": text(cluster, "server")}},
        }
        environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(asked)}
        environment |= {text(one, "name"): text(one, "value") for one in items(plugin, "env")}
        name = text(plugin, "command")
        command = str(self._beside(name)) if "/" in name else name
        try:
            done = subprocess.run(  # noqa: S603 - the kubeconfig says so, as kubectl does
                [command, *texts(plugin, "args")],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_EXEC_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError, ValueError) as cause:
            reason = f"the exec plugin {name[:80]} cannot be run: {cause}"
            raise self._fault(reason) from cause
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-_SHOWN_MAX:]
            reason = f"the exec plugin {name} has ended with {done.returncode}: {said}"
            raise self._fault(reason)
        try:
            found = cast("Json", json.loads(done.stdout))
        except ValueError as cause:
            reason = f"the exec plugin {name} says what is no JSON: {cause}"
            raise self._fault(reason) from cause
        status = mapping(found, "status") if isinstance(found, dict) else {}
        if not text(status, "token") and not text(status, "clientCertificateData"):
            reason = f"the exec plugin {name} gives neither a token nor a certificate"
            raise self._fault(reason)
        return status


def _as_user(plugin: Object) -> Object:
    """Return what an exec plugin gives as the kubeconfig would say it."""
    parts = (
        ("client-certificate-data", "clientCertificateData"),
        ("client-key-data", "clientKeyData"),
    )
    return {
        key: base64.b64encode(text(plugin, name).encode()).decode()
        for key, name in parts
        if text(plugin, name)
    }
