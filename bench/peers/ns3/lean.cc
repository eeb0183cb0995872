// The minimum of ns-3 for this simulation: no IP, no TCP, no queue disc, no timers.
#include "models.h"

#include "ns3/header.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <array>

using namespace ns3;

namespace peer
{

namespace
{

constexpr uint16_t PROTOCOL = 0x0800; // any that the point-to-point device knows
constexpr uint32_t WINDOW_PACKETS = WINDOW_BYTES / PAYLOAD_BYTES;
// The device adds 2 B of PPP, so data packets have 48 B of headers and acknowledgements 60 B.
constexpr uint32_t HEADER_BYTES = 46;
constexpr uint32_t ACK_PADDING_BYTES = 12;

// Header read by switches and hosts: the flow and the direction of the packet.
struct Label
{
    uint32_t flow;
    bool isAck;
};

class LabelHeader : public Header
{
  public:
    explicit LabelHeader(Label label)
        : m_label(label)
    {
    }

    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("peer::LabelHeader").SetParent<Header>();
        return id;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return HEADER_BYTES;
    }

    void Serialize(Buffer::Iterator at) const override
    {
        at.WriteHtonU32(m_label.flow);
        at.WriteU8(m_label.isAck);
        at.WriteU8(0, HEADER_BYTES - 5);
    }

    uint32_t Deserialize(Buffer::Iterator at) override
    {
        m_label.flow = at.ReadNtohU32();
        m_label.isAck = at.ReadU8() != 0;
        return HEADER_BYTES;
    }

    void Print(std::ostream& out) const override
    {
        out << "flow " << m_label.flow << (m_label.isAck ? " ack" : " data");
    }

  private:
    Label m_label;
};

// Copying out five bytes costs less than deserialising the header.
Label LabelOf(const Packet& packet)
{
    std::array<uint8_t, 5> bytes;
    packet.CopyData(bytes.data(), bytes.size());
    const uint32_t flow = uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
                          uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
    return {flow, bytes[4] != 0};
}

class Lean : public Model
{
  public:
    explicit Lean(const std::vector<Flow>& flows)
        : m_flows(flows),
          m_progress(flows.size()),
          m_fabric(Build("4294967295p"))
    {
        for (uint32_t node = 0; node < NODES; ++node)
        {
            for (const auto& port : m_fabric.ports[node])
            {
                port->SetReceiveCallback(
                    MakeCallback(node < HOSTS ? &Lean::AtHost : &Lean::AtSwitch, this));
            }
        }
        for (uint32_t flow = 0; flow < flows.size(); ++flow)
        {
            Simulator::Schedule(PicoSeconds(flows[flow].startPs), &Lean::Start, this, flow);
        }
    }

    uint32_t Finished() const override
    {
        return m_finished;
    }

    uint64_t Dropped() const override
    {
        return DroppedByDevices(m_fabric);
    }

  private:
    struct Progress
    {
        uint64_t sentBytes = 0;
        uint64_t unackedPackets = 0;
    };

    void Start(uint32_t flow)
    {
        for (uint32_t packet = 0; packet < WINDOW_PACKETS; ++packet)
        {
            SendNext(flow);
        }
    }

    // Hands the next packet, if any is left, to the host's device, whose queue is the host's.
    void SendNext(uint32_t flow)
    {
        auto& progress = m_progress[flow];
        const uint64_t left = m_flows[flow].bytes - progress.sentBytes;
        if (left == 0)
        {
            return;
        }
        const auto payload = static_cast<uint32_t>(std::min<uint64_t>(left, PAYLOAD_BYTES));
        progress.sentBytes += payload;
        ++progress.unackedPackets;
        Emit(m_flows[flow].src, {flow, false}, payload);
    }

    void Emit(uint32_t host, Label label, uint32_t bytes)
    {
        auto packet = Create<Packet>(bytes);
        packet->AddHeader(LabelHeader(label));
        Put(*m_fabric.ports[host][0], packet);
    }

    static void Put(PointToPointNetDevice& port, Ptr<Packet> packet)
    {
        static const Address anybody = port.GetBroadcast();
        port.Send(packet, anybody, PROTOCOL);
    }

    bool AtSwitch(Ptr<NetDevice> from, Ptr<const Packet> packet, uint16_t, const Address&)
    {
        const Label label = LabelOf(*packet);
        const Flow& flow = m_flows[label.flow];
        const uint32_t node = from->GetNode()->GetId();
        const uint32_t spine = SpineOf(uint64_t{label.flow} << 1 | label.isAck);
        const uint32_t port = PortTowards(node, label.isAck ? flow.src : flow.dst, spine);
        // The link has made this copy for us alone, so it may be sent on without another.
        Put(*m_fabric.ports[node][port], ConstCast<Packet>(packet));
        return true;
    }

    bool AtHost(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
    {
        const Label label = LabelOf(*packet);
        if (!label.isAck)
        {
            Emit(m_flows[label.flow].dst, {label.flow, true}, ACK_PADDING_BYTES);
            return true;
        }
        auto& progress = m_progress[label.flow];
        --progress.unackedPackets;
        SendNext(label.flow);
        if (progress.unackedPackets == 0 && ++m_finished == m_flows.size())
        {
            Simulator::Stop();
        }
        return true;
    }

    const std::vector<Flow>& m_flows;
    std::vector<Progress> m_progress;
    Fabric m_fabric;
    uint32_t m_finished = 0;
};

} // namespace

std::unique_ptr<Model> MakeLean(const std::vector<Flow>& flows)
{
    return std::make_unique<Lean>(flows);
}

} // namespace peer
