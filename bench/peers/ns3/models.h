// The two models of hosts and switches on the fabric.
#pragma once

#include "fabric.h"

#include <memory>

namespace peer
{

// A model keeps its fabric's nodes busy from construction to the end of the simulation, which it
// stops when every flow has arrived.
class Model
{
  public:
    virtual ~Model() = default;
    virtual uint32_t Finished() const = 0;
    virtual uint64_t Dropped() const = 0;
};

// ns-3's own Internet stack: DCTCP over RED queue discs with ECN.
std::unique_ptr<Model> MakeTcp(const std::vector<Flow>& flows);

// Devices and links of ns-3 alone: packets without addresses, forwarded by flow, windows of one
// bandwidth-delay product, an acknowledgement for each packet.
std::unique_ptr<Model> MakeLean(const std::vector<Flow>& flows);

} // namespace peer
