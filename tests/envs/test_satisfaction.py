"""Rated dialogues are read as they stand, real ones where they are, and what is missing or broken is said."""

import pytest
from rated_dialogues import RATED, write_part

from tacit.envs.corpus_files import CorporaError
from tacit.envs.satisfaction import HOME, find_parts, read_places


def test_every_rated_reply_is_a_place_and_the_whole_dialogue_is_none(tmp_path):
    places = read_places(write_part(tmp_path / "TOY.txt", dialogues=30))
    assert len(places) == 60
    assert {place.dialogue for place in places} == set(range(30))
    assert {place.rating for place in places} == {11 / 3, 7 / 3}
    assert all("OVERALL" not in (place.request, place.said) for place in places)
    first, second = places[:2]
    assert first.request.startswith("I need")
    assert first.asked == "INFORM"
    assert second.request == first.said  # what was said is what the next reply answers
    assert first.act in ("OFFER", "INFORM")


def test_the_real_collection_is_read_whole():
    parts = find_parts(RATED) if RATED.is_dir() else {}
    sizes = {part: len(read_places(path)) for part, path in parts.items()}
    assert sizes == ({"MWOZ": 10_552, "SGD": 11_833} if parts else {})


def test_files_are_found_in_the_directory_or_in_its_folder_or_with_the_user(tmp_path, monkeypatch):
    folder = tmp_path / "satisfaction"
    folder.mkdir()
    path = write_part(folder / "TOY.txt", dialogues=1)
    assert find_parts(folder) == find_parts(tmp_path) == {"TOY": path}
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    assert find_parts() == {"TOY": path}


def test_what_is_not_there_is_said_with_where_to_get_it(tmp_path):
    with pytest.raises(
        CorporaError, match=r"SGD\.txt or MWOZ\.txt .* there are none; get them from https://"
    ) as said:
        find_parts(tmp_path)
    assert HOME in str(said.value)
    assert "--data DIR" in str(said.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("USER\tonly three\tINFORM", "role, text, act and ratings .* in line 3"),
        ("NOBODY\tsaid\tINFORM\t3", "role, text, act and ratings .* in line 3"),
        ("USER\tyes\tINFORM\t3,9", "ratings in broken.txt are 1 to 5 .* '3,9'"),
        ("USER\tyes\tINFORM\tgood", "ratings in broken.txt are 1 to 5 .* 'good'"),
    ],
)
def test_what_is_not_in_the_form_is_said_with_its_place(tmp_path, line, reason):
    path = tmp_path / "broken.txt"
    path.write_text("USER\thi\tINFORM\t3\nSYSTEM\thello\tGREET\t\n" + line + "\n")
    with pytest.raises(CorporaError, match=reason):
        read_places(path)
