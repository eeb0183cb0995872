// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Moves the sockets of a network namespace from one congestion control to another. A socket keeps
// its congestion control, and so the programs of `flowtune.bpf.c`, until it is closed.

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define SOL_TCP 6
#define TCP_CONGESTION 13
#define CA_NAME_BYTES 16

struct sock_common;
struct tcp_sock;

// Fields of kernel structures. The loader finds their offsets in the running kernel (CO-RE).
struct bpf_iter__tcp {
    struct sock_common *sk_common;
} __attribute__((preserve_access_index));

char dual_license[] SEC("license") = "Dual MIT/GPL";

// The agent writes both, in this order, before it loads the program. Zeros follow a name.
const volatile char names[2 * CA_NAME_BYTES] = {};

SEC("iter/tcp")
int retire(struct bpf_iter__tcp *context)
{
    struct sock_common *common = context->sk_common;
    struct tcp_sock *socket;
    char name[CA_NAME_BYTES] = {};
    int i;

    if (!common)
        return 0;
    socket = bpf_skc_to_tcp_sock(common);
    if (!socket || bpf_getsockopt(socket, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
        return 0;
    for (i = 0; i < CA_NAME_BYTES; i++) {
        if (name[i] != names[i])
            return 0;
        if (!name[i])
            break;
    }
    for (i = 0; i < CA_NAME_BYTES; i++)
        name[i] = names[CA_NAME_BYTES + i];
    bpf_setsockopt(socket, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
    return 0;
}
