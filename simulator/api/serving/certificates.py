"""A certificate of the server's own, for clients that want TLS before they send a token.

It is made by the `openssl` program: Python's ssl module can use certificates and not make them, and
the library that can (`cryptography`, with cffi and a compiled extension, 15 MB) would be installed
by everybody for what is needed with `--token-file` alone. Debian's and Fedora's ca-certificates
bring `openssl` along, so it is hardly anywhere absent; where it is, the message says what to
install. Key and certificate are kept beside the kubeconfig that names the certificate, so that a
copy of that kubeconfig is good for later starts too.
"""

from __future__ import annotations

import ipaddress
import shutil
import ssl
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from simulator.api.serving.secret_files import write_secret
from simulator.errors import ConfigError, ServerError

_DAYS: Final = 365
_LEFT_SECONDS: Final = 30 * 86_400
"""A certificate that ends sooner is renewed: a server may run for a while."""
_COMMON_NAME: Final = "rebind"
_SUBJECT: Final = ((("commonName", _COMMON_NAME),),)
_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_OTHERS: Final = 0o077
"""Permissions of others than the owner: with them, the key is nobody's secret."""
_FILE_MAX: Final = 64 * 1024
_LOCAL: Final = ("127.0.0.1", "::1", "localhost")
_TIMEOUT_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that its owner has signed itself.

    Attributes:
        context: For listening.
        authority: What clients are to trust, as PEM.
    """

    context: ssl.SSLContext
    authority: bytes


def kept_beside(kubeconfig: Path | None) -> Path | None:
    """Return where the certificate is kept that a kubeconfig names; None without a kubeconfig."""
    return None if kubeconfig is None else kubeconfig.with_name(f"{kubeconfig.name}.tls.pem")


def own_certificate(host: str, kept_in: Path | None = None) -> Certificate:
    """Return a certificate for this machine's loopback names and for the host that is listened on.

    Args:
        host: The host.
        kept_in: The file in which key and certificate are kept: what is there is used until it has
            other names or soon ends, and is renewed then. None to keep nothing.

    Raises:
        ServerError: It cannot be made.
        ConfigError: What the file holds is nothing of Rebind's.
        OSError: The file cannot be read or written.
    """
    names = _names(host)
    if kept_in is not None and kept_in.exists():
        kept = _kept(kept_in, names)
        if kept is not None:
            return kept
    openssl = shutil.which("openssl")
    if openssl is None:
        reason = (
            "with --token-file the API is served over TLS, and the program that makes the "
            "certificate, openssl, is not installed; on Debian: apt-get install openssl"
        )
        raise ServerError(reason)
    with TemporaryDirectory(prefix="rb") as name:
        folder = Path(name)
        key, certificate, request = folder / "key", folder / "certificate", folder / "request"
        request.write_text(_request(names))
        _run(
            [
                *(openssl, "req", "-x509", "-nodes", "-sha256"),
                *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
                *("-days", str(_DAYS), "-config", str(request)),
                *("-keyout", str(key), "-out", str(certificate)),
            ]
        )
        context = _listening()
        context.load_cert_chain(certificate, key)
        if kept_in is not None:
            write_secret(kept_in, key.read_text() + certificate.read_text())
        return Certificate(context, certificate.read_bytes())


def _listening() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _kept(path: Path, names: Sequence[str]) -> Certificate | None:
    """Return the certificate that is kept in a file; None when it is to be renewed.

    Raises:
        ConfigError: The file holds something else.
        OSError: It cannot be read.
    """
    foreign = ConfigError(
        f"{path}: it holds no key and certificate that Rebind has made; move it away, and a new "
        "one is made"
    )
    if path.stat().st_size > _FILE_MAX:
        raise foreign
    _, begin, rest = path.read_text("ascii", "replace").partition(_BEGIN)
    authority = f"{begin}{rest}"
    context, looked_at = _listening(), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_cert_chain(path, password="")  # Nobody is asked for one.
        looked_at.load_verify_locations(cadata=authority)
    except (ssl.SSLError, ValueError) as cause:
        raise foreign from cause
    found = looked_at.get_ca_certs()
    if len(found) != 1 or found[0]["subject"] != _SUBJECT:
        raise foreign
    left = ssl.cert_time_to_seconds(str(found[0]["notAfter"])) - time.time()
    is_secret = not path.stat().st_mode & _OTHERS
    if is_secret and left > _LEFT_SECONDS and _names_of(found[0]) == sorted(names):
        return Certificate(context, authority.encode())
    return None


def _names_of(found: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of a certificate, as Python's ssl module has read it, in order."""
    names = []
    for kind, name in found.get("subjectAltName", ()):
        is_address = kind == "IP Address"
        names.append(f"IP:{ipaddress.ip_address(name.strip())}" if is_address else f"{kind}:{name}")
    return sorted(names)


def _request(names: Sequence[str]) -> str:
    return (
        "[req]\nprompt=no\ndistinguished_name=name\nx509_extensions=extensions\n"
        f"[name]\nCN={_COMMON_NAME}\n"
        "[extensions]\nbasicConstraints=critical,CA:TRUE\n"
        "keyUsage=critical,digitalSignature,keyCertSign\n"
        "extendedKeyUsage=serverAuth\nsubjectKeyIdentifier=hash\n"
        f"authorityKeyIdentifier=keyid\nsubjectAltName={','.join(names)}\n"
    )


def _names(host: str) -> Sequence[str]:
    names = []
    for name in dict.fromkeys((*_LOCAL, host)):
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            names.append(f"DNS:{name}")
        else:
            if not address.is_unspecified:
                names.append(f"IP:{address}")
    return names


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(  # noqa: S603 - a program found on PATH, with arguments of our own
            command, check=True, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        reason = f"openssl cannot make a certificate: {said.strip().splitlines()[-1]}"
        raise ServerError(reason) from error
