#include "routing.h"

#include "ns3/packet.h"

#include <array>

using namespace ns3;

namespace peer
{

namespace
{

constexpr uint32_t FIRST_ADDRESS = 0x0a000001; // 10.0.0.1
constexpr uint32_t FIRST_INTERFACE = 1;        // 0 is the loopback

// Key of a flow: the hosts, and the ports at the start of the TCP header.
uint64_t KeyOf(const Packet& packet, uint32_t src, uint32_t dst)
{
    std::array<uint8_t, 4> ports;
    packet.CopyData(ports.data(), ports.size());
    uint64_t key = uint64_t{src} << 48 ^ uint64_t{dst} << 32;
    for (uint8_t byte : ports)
    {
        key = key << 8 ^ key >> 56 ^ byte;
    }
    return key;
}

} // namespace

Ipv4Address AddressOf(uint32_t host)
{
    return Ipv4Address(FIRST_ADDRESS + host);
}

void FabricRouting::Fill(uint32_t node, const std::vector<Ptr<PointToPointNetDevice>>& ports)
{
    m_node = node;
    for (const auto& port : ports)
    {
        auto route = Create<Ipv4Route>();
        route->SetOutputDevice(port);
        route->SetGateway(Ipv4Address::GetAny()); // the neighbour: links have two ends
        if (node < HOSTS)
        {
            route->SetSource(AddressOf(node));
        }
        m_routes.push_back(route);
    }
}

Ptr<Ipv4Route> FabricRouting::RouteOutput(Ptr<Packet>,
                                          const Ipv4Header&,
                                          Ptr<NetDevice>,
                                          Socket::SocketErrno& error)
{
    error = Socket::ERROR_NOTERROR;
    return m_routes[0];
}

bool FabricRouting::RouteInput(Ptr<const Packet> packet,
                               const Ipv4Header& header,
                               Ptr<const NetDevice>,
                               UnicastForwardCallback forward,
                               MulticastForwardCallback,
                               LocalDeliverCallback deliver,
                               ErrorCallback)
{
    if (m_node < HOSTS)
    {
        deliver(packet, header, FIRST_INTERFACE);
        return true;
    }
    const uint32_t src = header.GetSource().Get() - FIRST_ADDRESS;
    const uint32_t dst = header.GetDestination().Get() - FIRST_ADDRESS;
    const uint32_t spine = SpineOf(KeyOf(*packet, src, dst));
    forward(m_routes[PortTowards(m_node, dst, spine)], packet, header);
    return true;
}

FabricRoutingHelper* FabricRoutingHelper::Copy() const
{
    return new FabricRoutingHelper(*this);
}

Ptr<Ipv4RoutingProtocol> FabricRoutingHelper::Create(Ptr<Node>) const
{
    return CreateObject<FabricRouting>();
}

} // namespace peer
