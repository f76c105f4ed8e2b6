"""`rebind api serve` as a process: its ready line, its end, its refusals, tokens and TLS."""

from __future__ import annotations

import json
import shutil
import signal
import ssl
import stat
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from kubernetes import client, config

from tests.api.serving.process import Process, api_process
from tests.api.serving.running import Api
from tests.cli.running import rebind

TOKENS = """
# token,user,uid,groups
admin-token,jane,1,"system:masters"
node-token,system:node:n0,2,system:nodes
reader-token,joe,3
"""
NODES = "/api/v1/nodes"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with api_process(tmp_path_factory.mktemp("api"), "--db", "sqlite:///api.db") as running:
        yield running


def test_a_second_writer_of_a_database_is_refused_with_the_holder(server: Process) -> None:
    assert server.running is not None
    db = f"sqlite:///{server.folder}/api.db"
    second = rebind("api", "serve", "--http", "127.0.0.1:0", "--db", db)

    assert second.code == 3
    assert str(server.running.pid) in second.stderr
    assert len(second.stderr.splitlines()) == 1


def test_an_address_that_is_taken_is_told(server: Process) -> None:
    taken = f"127.0.0.1:{server.port}"
    second = rebind("api", "serve", "--http", taken, "--db", "sqlite://")

    assert second.code == 3
    assert second.stderr == (
        f"error: the API cannot be served on {taken}: Address already in use; "
        "choose another address with --api-http of `rebind serve`, --http of `rebind api serve`\n"
    )


def test_it_says_where_it_is_and_ends_at_a_signal(tmp_path: Path) -> None:
    with api_process(tmp_path, "--db", "sqlite:///api.db") as server:
        assert server.ready == (
            f"ready: API server on http://127.0.0.1:{server.port}, database sqlite:///api.db\n"
        )
        with Api(server.url).watch(f"{NODES}?watch=true") as events:
            code, said = server.end(signal.SIGTERM)

            assert list(events) == []
    assert (code, said) == (0, "stopping; once more to stop at once\n")


@pytest.mark.parametrize(
    ("http", "told"),
    [
        ("0.0.0.0:9181", "everybody who reaches it could do everything; add --token-file"),
        ("192.0.2.7:9181", "or use 127.0.0.1:9181"),
        ("example.com:9181", "is no address for the API; write e.g. 127.0.0.1:9181"),
        ("127.0.0.1", "is no address for the API"),
        ("127.0.0.1:70000", "is no address for the API"),
        ("127.0.0.1:-1", "is no address for the API"),
    ],
)
def test_what_cannot_be_listened_on_is_refused(http: str, told: str) -> None:
    refused = rebind("api", "serve", "--http", http, "--db", "sqlite://")

    assert refused.code == 2
    assert told in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (b"", 2, "the token file names no token"),
        (b"a,b\n", 2, "line 1 of the token file has 2 columns"),
        (b"\xff\xfe", 2, "a token file is text in UTF-8"),
    ],
)
def test_a_token_file_that_is_none_is_refused(
    tmp_path: Path, content: bytes, code: int, told: str
) -> None:
    file = tmp_path / "tokens.csv"
    file.write_bytes(content)
    refused = rebind("api", "serve", "--token-file", str(file), "--db", "sqlite://")

    assert (refused.code, told in refused.stderr) == (code, True), refused.stderr
    assert refused.stderr.startswith(f"error: {file}: ")


@pytest.mark.parametrize("module", ["uvicorn", "uvloop", "jsonpatch"])
def test_without_the_extra_it_says_what_to_install(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("simulator.api.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    refused = rebind("api", "serve", "--db", "sqlite://")

    assert refused.code == 3
    assert refused.stderr == (
        f"error: the API server needs {module}, which is not installed: pip install 'rebind[api]'\n"
    )


def ask(url: str, trusted: ssl.SSLContext, headers: Mapping[str, str], body: object = None) -> int:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310 - a server of the test
        url, data, {"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, context=trusted) as answer:  # noqa: S310 - as above
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_with_tokens_it_serves_tls_and_tells_callers_apart(tmp_path: Path) -> None:
    (tmp_path / "tokens.csv").write_text(TOKENS)
    options = ["--token-file", "tokens.csv", "--kubeconfig-out", "rebind.kubeconfig"]
    with api_process(tmp_path, "--db", "sqlite:///api.db", *options) as server:
        file = tmp_path / "rebind.kubeconfig"
        assert server.url.startswith("https://127.0.0.1:")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        found = config.new_client_from_config(str(file), client_configuration=None)
        core = client.CoreV1Api(found)
        core.create_node({"metadata": {"name": "n0"}})  # type: ignore[arg-type]
        trusted = ssl.create_default_context(cafile=found.configuration.ssl_ca_cert)
        node = {"metadata": {"name": "n1"}}
        codes = {
            who: [
                ask(server.url + "/readyz", trusted, headers),
                ask(server.url + NODES, trusted, headers),
                ask(server.url + NODES, trusted, headers, node),
                ask(server.url + "/metrics", trusted, headers),
            ]
            for who, headers in {
                "nobody": {},
                "wrong": {"Authorization": "Bearer wrong"},
                "basic": {"Authorization": "Basic YTpi"},
                "joe": {"Authorization": "Bearer reader-token"},
                "n0": {"Authorization": "Bearer node-token"},
                "jane": {"Authorization": "Bearer admin-token"},
            }.items()
        }

        assert server.end(signal.SIGINT)[0] == 0
        kept = (tmp_path / "rebind.kubeconfig").read_text()
        server.start()  # With the same certificate, so that copies of the kubeconfig are good.
        assert (tmp_path / "rebind.kubeconfig").read_text() == kept
        assert server.end(signal.SIGINT)[0] == 0
    assert codes == {
        "nobody": [200, 401, 401, 401],
        "wrong": [200, 401, 401, 401],
        "basic": [200, 401, 401, 401],
        "joe": [200, 200, 403, 200],
        "n0": [200, 403, 403, 200],
        "jane": [200, 200, 201, 200],
    }
