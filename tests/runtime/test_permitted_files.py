"""Files by a path that somebody else wrote: what was tested is what is opened, and nothing else."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import PermissionDenied
from orchestra.runtime.files import Roots, _reading, _writing, open_permitted, resolve_permitted

SECRET = b"outside"


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """`room/` with a file and a folder in it, and a secret beside it."""
    root = tmp_path.resolve() / "room"
    (root / "box").mkdir(parents=True)
    (root / "note.txt").write_bytes(b"inside")
    (root / "box" / "note.txt").write_bytes(b"inside")
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    (outside / "note.txt").write_bytes(SECRET)
    return root


def read(path, root, **roots):
    with open_permitted(path, Roots((root,), **roots)) as file:
        return file.read()


def write(path, root, content=b"new", **roots):
    with open_permitted(path, Roots((root,), **roots), "write") as file:
        file.write(content)


def test_a_file_within_a_root_is_read(room, monkeypatch):
    monkeypatch.chdir(room / "box")

    assert read(room / "note.txt", room) == b"inside"
    assert read("../note.txt", room) == b"inside"
    assert read("note.txt", room / "box" / "note.txt") == b"inside"


def test_a_link_that_stays_within_the_root_is_followed_for_reading(room):
    (room / "link").symlink_to("box/note.txt")

    assert read(room / "link", room) == b"inside"


def test_a_file_that_is_permitted_and_missing_is_an_ordinary_error(room):
    with pytest.raises(FileNotFoundError):
        read(room / "nothing.txt", room)


def test_whether_a_file_outside_exists_is_not_told(room):
    reasons = []
    for name in ("note.txt", "nothing.txt"):
        with pytest.raises(PermissionDenied) as caught:
            read(f"{room}/../outside/{name}", room)
        reasons.append(caught.value.cause)

    assert reasons[0] == reasons[1]


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_link_that_is_put_there_after_the_test_is_not_followed(room, kind):
    place = resolve_permitted(room / "box" / "note.txt", Roots((room,)))
    if kind == "link":
        (room / "box" / "note.txt").unlink()
        (room / "box" / "note.txt").symlink_to(room.parent / "outside" / "note.txt")
    else:
        (room / "box").rename(room / "old")
        (room / "box").symlink_to(room.parent / "outside")

    with pytest.raises(PermissionDenied, match="not permitted") as caught, _reading(place) as file:
        file.read()

    assert "changed" in caught.value.cause


def test_a_folder_that_becomes_a_link_after_the_test_is_not_written_into(room):
    place = resolve_permitted(room / "box" / "new.txt", Roots((room,)), "write")
    (room / "box").rename(room / "old")
    (room / "box").symlink_to(room.parent / "outside")

    with pytest.raises(PermissionDenied), _writing(place) as file:
        file.write(b"new")

    assert [each.name for each in (room.parent / "outside").iterdir()] == ["note.txt"]


def test_links_that_are_swapped_all_the_time_never_lead_out(room):
    stop = threading.Event()
    for name in ("in", "out"):
        (room / name).symlink_to(room / "real" if name == "in" else room.parent / "outside")
    (room / "box").rename(room / "real")

    def swap():
        while not stop.is_set():
            for target in (room.parent / "outside", room / "real"):
                (room / "next").symlink_to(target)
                os.replace(room / "next", room / "box")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(600):
            with suppress(PermissionDenied, FileNotFoundError):
                seen.add(read(room / "box" / "note.txt", room))
    finally:
        stop.set()
        thread.join()

    assert seen <= {b"inside"}


def test_folders_that_are_swapped_for_links_all_the_time_are_never_written_through(room):
    stop = threading.Event()
    box = room / "box"
    steps = (lambda: box.rename(room / "aside"), lambda: box.symlink_to(room.parent / "outside"), box.unlink, box.mkdir)

    def swap():
        while not stop.is_set():
            shutil.rmtree(room / "aside", ignore_errors=True)
            for step in steps:
                with suppress(OSError):
                    step()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(150):
            with suppress(PermissionDenied, OSError):
                write(box / f"{number}.txt", room)
    finally:
        stop.set()
        thread.join()

    assert [each.name for each in (room.parent / "outside").iterdir()] == ["note.txt"]


def test_a_pipe_is_refused_at_once(room):
    os.mkfifo(room / "pipe")

    with pytest.raises(PermissionDenied) as caught:
        read(room / "pipe", room)

    assert "regular" in caught.value.cause


def test_a_pipe_that_takes_a_files_place_after_the_test_is_refused_at_once(room):
    place = resolve_permitted(room / "note.txt", Roots((room,)))
    (room / "note.txt").unlink()
    os.mkfifo(room / "note.txt")

    with pytest.raises(PermissionDenied), _reading(place):
        pass


def test_sockets_folders_and_devices_are_no_files(room):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(room / "socket"))

    for path in (room / "socket", room / "box", "/dev/null", "/dev/zero"):
        with pytest.raises(PermissionDenied), open_permitted(path, Roots(None)):
            pass


def test_files_of_the_kernel_are_refused_even_where_everything_is_allowed(room):
    for path in (
        "/proc/self/environ",
        "/sys/kernel/notes",
        "/proc/self/root/proc/self/environ",
        "/dev/shm/../../proc/1",
    ):
        with pytest.raises(PermissionDenied), open_permitted(path, Roots(None)):
            pass


def test_a_link_of_the_kernel_leads_to_its_file_and_is_held_to_the_root(room):
    with open(room.parent / "outside" / "note.txt", "rb") as opened:
        for path in (f"/proc/self/fd/{opened.fileno()}", f"/proc/self/root{room.parent}/outside/note.txt"):
            with pytest.raises(PermissionDenied):
                read(path, room)


def test_a_refused_place_is_refused_within_an_allowed_one(room):
    with pytest.raises(PermissionDenied) as caught:
        read(room / "box" / "note.txt", room, refused=(room / "box",))

    assert "refused" in caught.value.cause


@pytest.mark.parametrize("name", ["BOX", "Box.", "ｂｏｘ"])
def test_a_refused_place_is_refused_by_names_that_another_file_system_takes_for_it(room, name):
    (room / name).mkdir()
    (room / name / "note.txt").write_bytes(b"x")

    with pytest.raises(PermissionDenied):
        read(room / name / "note.txt", room, refused=(room / "box",))


def test_a_refused_file_is_refused_by_its_other_name(room):
    os.link(room / "note.txt", room / "alias.txt")

    with pytest.raises(PermissionDenied):
        read(room / "alias.txt", room, refused=(room / "note.txt",))


def test_what_is_written_appears_whole_or_not_at_all(room):
    def fail_midway():
        with open_permitted(room / "note.txt", Roots((room,)), "write") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_midway()

    assert (room / "note.txt").read_bytes() == b"inside"
    assert sorted(each.name for each in room.iterdir()) == ["box", "note.txt"]


def test_writing_makes_folders_and_keeps_the_rights_of_what_it_replaces(room):
    (room / "note.txt").chmod(0o600)

    write(room / "a" / "b" / "new.txt", room)
    write(room / "note.txt", room)

    assert (room / "a" / "b" / "new.txt").read_bytes() == b"new"
    assert (room / "note.txt").read_bytes() == b"new"
    assert (room / "note.txt").stat().st_mode & 0o777 == 0o600


def test_writing_never_goes_through_a_link(room):
    (room / "link").symlink_to(room.parent / "outside" / "note.txt")
    (room / "near").symlink_to(room / "note.txt")

    for name in ("link", "near"):
        with pytest.raises(PermissionDenied):
            write(room / name, room)

    assert (room.parent / "outside" / "note.txt").read_bytes() == SECRET
    assert (room / "note.txt").read_bytes() == b"inside"


def test_writing_a_file_with_two_names_leaves_the_other_as_it_was(room):
    os.link(room.parent / "outside" / "note.txt", room / "shared.txt")

    write(room / "shared.txt", room)

    assert (room / "shared.txt").read_bytes() == b"new"
    assert (room.parent / "outside" / "note.txt").read_bytes() == SECRET


@pytest.mark.parametrize(
    "name", ["orchestra.toml", "ORCHESTRA.TOML", "SKILL.md", "skill.yaml", "Skill.md.", "ｓkill.md"]
)
def test_what_says_what_may_be_done_is_never_written(room, name):
    with pytest.raises(PermissionDenied):
        write(room / name, room)

    assert not (room / name).exists()


@pytest.mark.parametrize("path", ["", " ", "~/x", "~root/x", "a\0b", "a\nb", "\ud800", "x" * 5000, "room/.", "room/.."])
def test_what_is_no_name_of_a_file_is_refused_or_fails_plainly(room, path):
    with pytest.raises((PermissionDenied, OSError)):
        write(path, room)


def test_no_descriptor_is_left_open(room):
    (room / "link").symlink_to("/etc")
    os.mkfifo(room / "pipe")
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(20):
        read(room / "note.txt", room)
        write(room / "a" / "new.txt", room)
        for path in (room / "link" / "hosts", room / "pipe", room / "box", room / "none"):
            with pytest.raises((PermissionDenied, FileNotFoundError)):
                read(path, room)
        with pytest.raises(PermissionDenied):
            write(room / "pipe", room)

    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture(scope="module")
def maze(tmp_path_factory) -> Path:
    """Folders and links, in and out of `room`."""
    top = tmp_path_factory.mktemp("maze").resolve()
    (top / "room" / "box").mkdir(parents=True)
    (top / "outside").mkdir()
    for place in ("room/note.txt", "room/box/note.txt", "outside/note.txt"):
        (top / place).write_text(place)
    for place, target in {
        "room/way": "../outside",
        "room/up": "..",
        "room/box/back": "../../room",
        "room/far": str(top / "outside" / "note.txt"),
        "room/near": "box/note.txt",
        "outside/home": "../room/box",
        "room/loop": "loop",
    }.items():
        (top / place).symlink_to(target)
    return top


names = st.sampled_from(
    ("..", ".", "", "room", "outside", "box", "way", "up", "back", "far", "near", "home", "loop", "note.txt", "none")
)


@given(st.lists(names, max_size=8), st.booleans())
def test_whatever_is_read_is_where_the_system_says_that_the_path_leads(maze, parts, is_refused):
    path = "/".join([str(maze / "room"), *parts])
    roots = Roots((maze / "room",), (maze / "room" / "box",) if is_refused else ())

    try:
        with open_permitted(path, roots) as file:
            found = file.read().decode()
    except (PermissionDenied, OSError):
        found = ""

    real = os.path.realpath(path)
    is_permitted = real.startswith(f"{maze}/room/") and not (is_refused and real.startswith(f"{maze}/room/box"))
    assert found == (Path(real).relative_to(maze).as_posix() if is_permitted and os.path.isfile(real) else "")
