// The same fabric and flows as in xoff: see crates/xoff-net/src/topo/leaf_spine.rs.
#pragma once

#include "ns3/node-container.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace peer
{

constexpr uint32_t LEAVES = 8;
constexpr uint32_t SPINES = 8;
constexpr uint32_t HOSTS_PER_LEAF = 16;
constexpr uint32_t HOSTS = LEAVES * HOSTS_PER_LEAF;
constexpr uint32_t NODES = HOSTS + LEAVES + SPINES;
constexpr uint64_t RATE_BPS = 100'000'000'000;
constexpr int64_t LINK_DELAY_PS = 1'000'000;

constexpr uint32_t PAYLOAD_BYTES = 1000;
// One bandwidth-delay product between hosts on different leaves, computed as in xoff.
constexpr uint32_t WINDOW_BYTES = 104'000;

// One row of the flow list.
struct Flow
{
    uint32_t src;
    uint32_t dst;
    uint64_t bytes;
    int64_t startPs;
};

// Reads a list with the columns src,dst,size_bytes,start_ps; throws std::runtime_error.
std::vector<Flow> ReadFlows(const std::string& file);

// Hosts, then leaves, then spines. A host has port 0; a leaf has its hosts' ports, then one
// towards each spine; a spine has one towards each leaf.
struct Fabric
{
    ns3::NodeContainer nodes;
    std::vector<std::vector<ns3::Ptr<ns3::PointToPointNetDevice>>> ports;
};

// Builds nodes, devices and links. Hosts get a queue without bound, switches one of `switchQueue`
// packets, because with a queue disc above it the device's own queue only feeds the wire.
Fabric Build(const std::string& switchQueue);

// The port of `node` on the way to host `dst`, by spine `spine` if there is a choice.
uint32_t PortTowards(uint32_t node, uint32_t dst, uint32_t spine);

// The spine of a flow in one direction.
uint32_t SpineOf(uint64_t key);

// Packets sent on any link so far.
uint64_t PacketHops();

// Packets dropped by the devices' queues.
uint64_t DroppedByDevices(const Fabric& fabric);

} // namespace peer
