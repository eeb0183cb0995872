#include "fabric.h"

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/nstime.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"

#include <fstream>
#include <stdexcept>

using namespace ns3;

namespace peer
{

namespace
{

uint64_t g_packetHops = 0;

// Counts by overriding the virtual call of every transmission: a trace sink would cost a callback
// per packet.
class CountingChannel : public PointToPointChannel
{
  public:
    bool TransmitStart(Ptr<const Packet> packet,
                       Ptr<PointToPointNetDevice> source,
                       Time duration) override
    {
        ++g_packetHops;
        return PointToPointChannel::TransmitStart(packet, source, duration);
    }
};

Ptr<PointToPointNetDevice> AddPort(Fabric& fabric, uint32_t node, const std::string& queueSize)
{
    auto queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize(queueSize));
    auto device = CreateObject<PointToPointNetDevice>();
    device->SetAddress(Mac48Address::Allocate());
    device->SetDataRate(DataRate(RATE_BPS));
    device->SetQueue(queue);
    fabric.nodes.Get(node)->AddDevice(device);
    fabric.ports[node].push_back(device);
    return device;
}

void Connect(Ptr<PointToPointNetDevice> one, Ptr<PointToPointNetDevice> other)
{
    auto channel = CreateObject<CountingChannel>();
    channel->SetAttribute("Delay", TimeValue(PicoSeconds(LINK_DELAY_PS)));
    one->Attach(channel);
    other->Attach(channel);
}

} // namespace

std::vector<Flow> ReadFlows(const std::string& file)
{
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || line != "src,dst,size_bytes,start_ps")
    {
        throw std::runtime_error(file + ": no list of flows");
    }
    std::vector<Flow> flows;
    Flow flow;
    char comma;
    while (in >> flow.src >> comma >> flow.dst >> comma >> flow.bytes >> comma >> flow.startPs)
    {
        flows.push_back(flow);
    }
    if (!in.eof() || flows.empty())
    {
        throw std::runtime_error(file + ": cannot read line " + std::to_string(flows.size() + 2));
    }
    return flows;
}

Fabric Build(const std::string& switchQueue)
{
    const std::string unbounded = "4294967295p";
    Fabric fabric;
    fabric.nodes.Create(NODES);
    fabric.ports.resize(NODES);
    for (uint32_t host = 0; host < HOSTS; ++host)
    {
        const uint32_t leaf = HOSTS + host / HOSTS_PER_LEAF;
        Connect(AddPort(fabric, host, unbounded), AddPort(fabric, leaf, switchQueue));
    }
    for (uint32_t leaf = HOSTS; leaf < HOSTS + LEAVES; ++leaf)
    {
        for (uint32_t spine = HOSTS + LEAVES; spine < NODES; ++spine)
        {
            Connect(AddPort(fabric, leaf, switchQueue), AddPort(fabric, spine, switchQueue));
        }
    }
    return fabric;
}

uint32_t PortTowards(uint32_t node, uint32_t dst, uint32_t spine)
{
    if (node < HOSTS)
    {
        return 0;
    }
    const uint32_t leaf = dst / HOSTS_PER_LEAF;
    if (node >= HOSTS + LEAVES)
    {
        return leaf;
    }
    return node == HOSTS + leaf ? dst % HOSTS_PER_LEAF : HOSTS_PER_LEAF + spine;
}

uint32_t SpineOf(uint64_t key)
{
    // The finaliser of splitmix64: neighbouring keys must not take neighbouring spines.
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return (key ^ (key >> 31)) % SPINES;
}

uint64_t PacketHops()
{
    return g_packetHops;
}

uint64_t DroppedByDevices(const Fabric& fabric)
{
    uint64_t dropped = 0;
    for (const auto& ports : fabric.ports)
    {
        for (const auto& port : ports)
        {
            dropped += port->GetQueue()->GetTotalDroppedPackets();
        }
    }
    return dropped;
}

} // namespace peer
