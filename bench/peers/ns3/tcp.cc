// ns-3's standard models: TcpDctcp, the IPv4 stack, RedQueueDisc, BulkSendApplication.
#include "models.h"
#include "routing.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-application.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/packet-sink.h"
#include "ns3/queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace peer
{

namespace
{

constexpr uint16_t SINK_PORT = 9;
constexpr int64_t CHECK_EVERY_PS = 1'000'000;

void SetTransport()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD_BYTES));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // A flow begins at line rate and never has more than a window unacknowledged.
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(WINDOW_BYTES / PAYLOAD_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW_BYTES));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * WINDOW_BYTES));
    // 42 B of headers come closest to xoff's 48 B.
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
}

// Marks by the instantaneous queue length, like [ecn] of xoff's preset `dctcp`.
void InstallQueueDiscs(const Fabric& fabric)
{
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc",
                         "MaxSize", StringValue("12MB"),
                         "MinTh", DoubleValue(100'000),
                         "MaxTh", DoubleValue(400'000),
                         "MeanPktSize", UintegerValue(PAYLOAD_BYTES),
                         "QW", DoubleValue(1),
                         "LInterm", DoubleValue(1),
                         "Gentle", BooleanValue(false),
                         "UseEcn", BooleanValue(true),
                         "UseHardDrop", BooleanValue(false),
                         "LinkBandwidth", DataRateValue(DataRate(RATE_BPS)),
                         "LinkDelay", TimeValue(PicoSeconds(LINK_DELAY_PS)));
    for (uint32_t node = HOSTS; node < NODES; ++node)
    {
        for (const auto& port : fabric.ports[node])
        {
            // By this the queue disc knows when the device can take a packet.
            auto link = CreateObject<NetDeviceQueueInterface>();
            link->GetTxQueue(0)->ConnectQueueTraces(port->GetQueue());
            port->AggregateObject(link);
            red.Install(port);
        }
    }
}

class Tcp : public Model
{
  public:
    explicit Tcp(const std::vector<Flow>& flows)
        : m_flows(flows.size())
    {
        SetTransport();
        m_fabric = Build("1p");
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(FabricRoutingHelper());
        stack.Install(m_fabric.nodes);
        InstallQueueDiscs(m_fabric);
        AddInterfaces();
        AddSinks();
        for (const Flow& flow : flows)
        {
            AddSender(flow);
            m_bytes += flow.bytes;
        }
        Simulator::Schedule(PicoSeconds(CHECK_EVERY_PS), &Tcp::StopWhenDone, this);
    }

    uint32_t Finished() const override
    {
        return Received() == m_bytes ? m_flows : 0;
    }

    uint64_t Dropped() const override
    {
        uint64_t dropped = DroppedByDevices(m_fabric);
        for (uint32_t node = HOSTS; node < NODES; ++node)
        {
            auto control = m_fabric.nodes.Get(node)->GetObject<TrafficControlLayer>();
            for (const auto& port : m_fabric.ports[node])
            {
                dropped += control->GetRootQueueDiscOnDevice(port)->GetStats().nTotalDroppedPackets;
            }
        }
        return dropped;
    }

  private:
    // Only hosts have addresses; switches forward by them.
    void AddInterfaces()
    {
        for (uint32_t node = 0; node < NODES; ++node)
        {
            auto ip = m_fabric.nodes.Get(node)->GetObject<Ipv4>();
            for (const auto& port : m_fabric.ports[node])
            {
                const uint32_t interface = ip->AddInterface(port);
                if (node < HOSTS)
                {
                    ip->AddAddress(interface, {AddressOf(node), Ipv4Mask("255.0.0.0")});
                }
                ip->SetUp(interface);
            }
            DynamicCast<FabricRouting>(ip->GetRoutingProtocol())->Fill(node, m_fabric.ports[node]);
        }
    }

    void AddSinks()
    {
        for (uint32_t host = 0; host < HOSTS; ++host)
        {
            auto sink = CreateObject<PacketSink>();
            sink->SetAttribute("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
            sink->SetAttribute("Local",
                               AddressValue(InetSocketAddress(AddressOf(host), SINK_PORT)));
            m_fabric.nodes.Get(host)->AddApplication(sink);
            m_sinks.push_back(sink);
        }
    }

    void AddSender(const Flow& flow)
    {
        auto sender = CreateObject<BulkSendApplication>();
        sender->SetAttribute("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        sender->SetAttribute("Remote",
                             AddressValue(InetSocketAddress(AddressOf(flow.dst), SINK_PORT)));
        sender->SetAttribute("SendSize", UintegerValue(PAYLOAD_BYTES));
        sender->SetMaxBytes(flow.bytes);
        sender->SetStartTime(PicoSeconds(flow.startPs));
        m_fabric.nodes.Get(flow.src)->AddApplication(sender);
    }

    uint64_t Received() const
    {
        uint64_t bytes = 0;
        for (const auto& sink : m_sinks)
        {
            bytes += sink->GetTotalRx();
        }
        return bytes;
    }

    // Asking now and then costs less than a callback for every packet that arrives.
    void StopWhenDone()
    {
        if (Received() == m_bytes)
        {
            Simulator::Stop();
            return;
        }
        Simulator::Schedule(PicoSeconds(CHECK_EVERY_PS), &Tcp::StopWhenDone, this);
    }

    Fabric m_fabric;
    std::vector<Ptr<PacketSink>> m_sinks;
    uint32_t m_flows;
    uint64_t m_bytes = 0;
};

} // namespace

std::unique_ptr<Model> MakeTcp(const std::vector<Flow>& flows)
{
    return std::make_unique<Tcp>(flows);
}

} // namespace peer
