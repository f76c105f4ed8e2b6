"""A certificate of the server's own, for clients that want TLS before they send a token.

It is made by the `openssl` program: Python's ssl module can use certificates and not make them, and
the library that can (`cryptography`, with cffi and a compiled extension, 15 MB) would be installed
by everybody for what is needed with `--token-file` alone. Debian's and Fedora's ca-certificates
bring `openssl` along, so it is hardly anywhere absent; where it is, the message says what to
install. A new certificate is made at each start, and the kubeconfig that names it is written anew.
"""

from __future__ import annotations

import ipaddress
import shutil
import ssl
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from simulator.errors import ServerError

_DAYS: Final = 365
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


def own_certificate(host: str) -> Certificate:
    """Make a certificate for this machine's loopback names and for the host that is listened on.

    Raises:
        ServerError: It cannot be made.
    """
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
        request.write_text(_request(host))
        _run(
            [
                *(openssl, "req", "-x509", "-nodes", "-sha256"),
                *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
                *("-days", str(_DAYS), "-config", str(request)),
                *("-keyout", str(key), "-out", str(certificate)),
            ]
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(certificate, key)
        return Certificate(context, certificate.read_bytes())


def _request(host: str) -> str:
    names = ",".join(_names(host))
    return (
        "[req]\nprompt=no\ndistinguished_name=name\nx509_extensions=extensions\n"
        "[name]\nCN=rebind\n"
        "[extensions]\nbasicConstraints=critical,CA:TRUE\n"
        "keyUsage=critical,digitalSignature,keyCertSign\n"
        "extendedKeyUsage=serverAuth\nsubjectKeyIdentifier=hash\n"
        f"authorityKeyIdentifier=keyid\nsubjectAltName={names}\n"
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
