/* Reports flowlets of TCP sockets to an agent with `plane = "programs"`, which paces them.
 *
 * Copy this file into your program. It needs Linux, and no library.
 *
 *     int agent = xoff_flowlet_connect(NULL);   // -1: no agent; the calls below do nothing then
 *     xoff_flowlet_start(agent, socket);        // before the first byte of a transfer
 *     ... send ...
 *     xoff_flowlet_end(agent, socket);          // after its last byte, before the socket is closed
 *     close(agent);                             // ends what has not ended
 *
 * End a flowlet before you close its descriptor if the socket stays open elsewhere (dup, fork): the
 * agent finds the socket by this descriptor, and could not lift the limit any more.
 *
 * Call them from the process that called xoff_flowlet_connect: not from its children. Threads may
 * share an agent. If the agent has gone, a report lifts the socket's limit and returns -1; connect
 * again then. A program works the same without an agent, and its connections are not paced.
 */
#ifndef XOFF_FLOWLET_H
#define XOFF_FLOWLET_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define XOFF_FLOWLET_PATH "/run/xoff/flowlets"
#define XOFF_FLOWLET_START 1u
#define XOFF_FLOWLET_END 2u

/* Connects to the agent at a path; NULL is the default one. Returns a descriptor, or -1 and errno. */
static inline int xoff_flowlet_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int agent;
    if (path == NULL)
        path = XOFF_FLOWLET_PATH;
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    agent = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (agent >= 0 && connect(agent, (const struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(agent);
        errno = error;
        return -1;
    }
    return agent;
}

/* Sends a report. If that fails, the socket's limit is lifted: no agent would do it. */
static inline int xoff_flowlet_report(int agent, uint32_t what, int socket)
{
    const uint32_t message[2] = {what, (uint32_t)socket};
    const uint64_t unlimited = UINT64_MAX;
    if (agent >= 0 && send(agent, message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof message)
        return 0;
    if (agent >= 0)
        setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &unlimited, sizeof unlimited);
    return -1;
}

/* A flowlet of a connected socket starts. Returns 0, or -1 if there is no agent. */
static inline int xoff_flowlet_start(int agent, int socket)
{
    return xoff_flowlet_report(agent, XOFF_FLOWLET_START, socket);
}

/* All bytes of a socket's flowlet are written. It is paced until all bytes of the socket are
 * acknowledged. Then the limit is lifted; the kernel sends at the old rate until the next
 * acknowledgement, so the next flowlet begins at that rate. If the socket is closed before, what it
 * has not sent leaves at the last rate, while the allocator gives that rate to others: to be paced
 * to the end, close it when SIOCOUTQ is 0. Returns 0, or -1 if there is no agent. */
static inline int xoff_flowlet_end(int agent, int socket)
{
    return xoff_flowlet_report(agent, XOFF_FLOWLET_END, socket);
}

#endif
