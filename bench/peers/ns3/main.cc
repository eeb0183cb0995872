// Simulates a list of flows on BFC's fabric with ns-3 and prints times and counts as JSON:
//   peer --model tcp|lean --flows FILE [--scheduler TYPE]
#include "models.h"

#include "ns3/command-line.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"

#include <chrono>
#include <cstdio>
#include <iostream>

using namespace ns3;

namespace
{

double SecondsSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int Run(const std::string& name, const std::string& file, const std::string& scheduler)
{
    const auto begin = std::chrono::steady_clock::now();
    // A packet takes 83.84 ns: with ns-3's usual nanoseconds links would be a little slower.
    Time::SetResolution(Time::PS);
    Simulator::SetScheduler(ObjectFactory(scheduler));
    const auto flows = peer::ReadFlows(file);
    const auto model = name == "tcp" ? peer::MakeTcp(flows) : peer::MakeLean(flows);
    const double setup = SecondsSince(begin);

    const auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    const double wall = SecondsSince(start);

    if (model->Finished() != flows.size())
    {
        std::cerr << "the simulation ended before all flows had\n";
        return 1;
    }
    std::printf("{\"flows\": %zu, \"packet_hops\": %lu, \"events\": %lu, \"dropped\": %lu, "
                "\"sim_ps\": %ld, \"setup_s\": %.6f, \"wall_s\": %.6f}\n",
                flows.size(), peer::PacketHops(), Simulator::GetEventCount(), model->Dropped(),
                Simulator::Now().GetPicoSeconds(), setup, wall);
    Simulator::Destroy();
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    std::string model = "tcp";
    std::string flows;
    std::string scheduler = "ns3::PriorityQueueScheduler"; // the fastest of ns-3's here
    CommandLine args;
    args.AddValue("model", "tcp or lean", model);
    args.AddValue("flows", "list of flows (CSV)", flows);
    args.AddValue("scheduler", "ns-3's event list", scheduler);
    args.Parse(argc, argv);
    if (model != "tcp" && model != "lean")
    {
        std::cerr << "--model is tcp or lean, not " << model << '\n';
        return 2;
    }
    try
    {
        return Run(model, flows, scheduler);
    }
    catch (const std::runtime_error& error)
    {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
