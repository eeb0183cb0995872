// Routes of the fabric, one path per flow. ns-3's global routing uses the first of several shortest
// paths for all packets, or draws one per packet, and searches its list of routes each time.
#pragma once

#include "fabric.h"

#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-protocol.h"

namespace peer
{

// The address of a host.
ns3::Ipv4Address AddressOf(uint32_t host);

class FabricRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    // Makes the node's routes, one a port.
    void Fill(uint32_t node, const std::vector<ns3::Ptr<ns3::PointToPointNetDevice>>& ports);

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> out,
                                         ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> in,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback multicast,
                    LocalDeliverCallback deliver,
                    ErrorCallback error) override;

    // The fabric never changes, so there is nothing to do.
    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(ns3::Ptr<ns3::Ipv4>) override {}
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  private:
    uint32_t m_node = 0;
    std::vector<ns3::Ptr<ns3::Ipv4Route>> m_routes;
};

class FabricRoutingHelper : public ns3::Ipv4RoutingHelper
{
  public:
    FabricRoutingHelper* Copy() const override;
    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node> node) const override;
};

} // namespace peer
