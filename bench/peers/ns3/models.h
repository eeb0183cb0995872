// The two models of hosts and switches on the fabric.
#pragma once

#include "fabric.h"

#include <memory>

namespace peer
{

// A model drives the nodes of its fabric and stops the simulation when every flow has arrived.
class Model
{
  public:
    virtual ~Model() = default;
    virtual uint32_t Finished() const = 0;
    virtual uint64_t Dropped() const = 0;
};

// ns-3's own Internet stack: DCTCP over RED queue discs with ECN.
std::unique_ptr<Model> MakeTcp(const std::vector<Flow>& flows);

// Only devices and links of ns-3: packets without addresses, forwarded by flow, windows of one
// bandwidth-delay product, one acknowledgement per packet.
std::unique_ptr<Model> MakeLean(const std::vector<Flow>& flows);

} // namespace peer
