import pyarrow as pa

import xoff
from xoff.metrics import Term


def ports(sent):
    """Create a leaf with two uplinks and a host, and a spine; `sent` per interval and uplink."""
    links = [(0, "host-leaf"), (1, "leaf-host"), (1, "leaf-spine"), (1, "leaf-spine")]
    table = pa.table({"node": [n for n, _ in links], "link": [link for _, link in links]})
    samples = pa.table(
        {
            "time_ps": [t for t in range(len(sent)) for _ in links],
            "tx_bytes": [x for pair in sent for x in (7, 9, *pair)],
        }
    )
    return xoff.Result({}, "", "d", tables={"ports": table, "port_samples": samples})


def test_the_spread_of_what_links_of_a_switch_carry():
    def spread(*sent):
        return Term("c", path="spread.leaf-spine").read(ports(sent))

    assert spread((50, 50), (80, 80)) == 0
    assert spread((0, 100)) == 1
    assert spread((0, 100), (50, 50)) == 0.5
    # An idle interval is ignored.
    assert spread((0, 100), (0, 0)) == 1
    assert spread((0, 0)) is None
    assert Term("c", path="spread.spine-core").read(ports(((1, 1),))) is None
