"""Pictures of networks: what they show, and that nothing covers anything."""

import itertools
import re

import pytest

from xoff import api, picture, plots
from xoff.picture import grouped
from xoff.picture.layout import circle, grid, layers, needs_circle

FLOW = (
    'scheme = "dctcp"\n[transport]\ntimeout = "1ms"\n[[traffic]]\nkind = "long"\nsrc = 0\ndst = 1\n'
)

pytestmark = pytest.mark.real_engine


def network(topology, text=""):
    return api.network(f'{FLOW}[network]\ntopology = "{topology}"\n{text}')


def texts(figure):
    """All texts of a figure, with those of its legend."""
    found = [text.get_text() for ax in figure.axes for text in ax.texts]
    return found + [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize(
    "topology", ["leaf-spine", "fat-tree", "clos", "star", "dumbbell", "torus", "dragonfly", "rail"]
)
def test_no_box_covers_another(topology):
    found = network(topology)
    for most_hosts in (0, 1000):
        drawn = grouped(found, most_hosts)
        if found["grid"]:
            places = grid(grouped(found, 0), found["grid"])
        else:
            places = (circle if needs_circle(found) else layers)(drawn)
        close = [
            pair
            for pair in itertools.combinations(places.at, 2)
            if max(abs(a - b) for a, b in zip(*pair, strict=True)) < 0.15
        ]
        assert close == []


def test_every_topology_has_its_form():
    forms = {name: needs_circle(network(name)) for name in ("leaf-spine", "dumbbell", "dragonfly")}
    assert forms == {"leaf-spine": False, "dumbbell": False, "dragonfly": True}
    assert network("torus", "[torus]\nplanes = 2\n")["grid"] == [4, 4, 2]


def test_many_hosts_of_a_switch_are_one_box_with_their_number():
    found = network("leaf-spine", "[leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 40\n")
    drawn = grouped(found, 64)
    assert [box.count for box in drawn.boxes] == [40, 40, 40, 1, 1, 1, 1, 1]
    assert [line.links for line in drawn.lines if drawn.joins_switches(line)] == [1] * 6
    assert texts(picture.figure(found, "")).count("40") == 3
    assert len(grouped(found, 120).boxes) == 125


def test_servers_are_below_their_hosts_and_rails_above():
    found = network("rail", "[rail]\nservers_per_pod = 4\ngpus_per_server = 2\nspines = 2\n")
    drawn = grouped(found, 64)
    places = layers(drawn)
    height = dict(places.rows)
    assert list(height) == ["server", "host", "leaf", "spine"]
    servers = drawn.servers()
    assert {drawn.boxes[at].name for at in servers} == {f"server{n}" for n in range(4)}
    assert {places.at[at][1] for at in servers} == {height["server"]}


def test_faults_are_marked_and_told():
    fault = '[[fault]]\nkind = "switch-down"\nswitch = "spine:1"\nat = "100us"\nuntil = "2ms"\n'
    said = texts(picture.figure(network("leaf-spine", fault), ""))
    links = "1  leaf:0 to spine:1; leaf:1 to spine:1; 6 more links"
    assert f"{links}: down from 100 us to 2 ms" in said
    assert said.count("1") == 8 + 2  # a mark on each link, and the numbers of a leaf and a spine


def test_parallel_links_have_a_number():
    said = texts(picture.figure(network("leaf-spine", "[leaf_spine]\nlinks = 9\n"), ""))
    assert said.count("9") == 64


def test_a_large_network_is_drawn_by_layers():
    fault = '[[fault]]\nkind = "link-down"\nlink = "leaf:0,spine:1"\nat = "1ms"\n'
    said = texts(picture.figure(network("fat-tree", f"[fat_tree]\nk = 24\n{fault}"), ""))
    assert "144 core switches" in said
    assert "3,456 hosts" in said
    assert "3,456 links, 100 Gb/s, 1 us\n1 fault" in said
    assert "1  leaf:0 to spine:1: down from 1 ms" in said


def test_a_large_network_without_layers_tells_its_inner_links():
    sizes = "groups = 33\nrouters_per_group = 8\nglobal_links_per_router = 4\n"
    said = texts(picture.figure(network("dragonfly", f"[dragonfly]\n{sizes}"), ""))
    assert "264 leaf switches\nand 1,452 links among them, 100 Gb/s, 1 us" in said


def test_rates_and_delays_have_looks_of_their_own():
    found = network("two-dc", '[buffer]\ngateway_size = "40MB"\n')
    legend = picture.figure(found, "").legends[0]
    looks = {
        text.get_text(): (handle.get_linewidth(), handle.get_linestyle())
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
        if re.match(r"\d+ [GM]b/s", text.get_text())
    }
    assert len(looks) >= 2
    assert len(set(looks.values())) == len(looks)


def test_a_picture_is_the_same_to_the_byte(tmp_path):
    found = network("dragonfly")
    for suffix in (".svg", ".png"):
        files = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for file in files:
            plots.save_as(picture.figure(found, "a name"), file)
        assert files[0].read_bytes() == files[1].read_bytes()
