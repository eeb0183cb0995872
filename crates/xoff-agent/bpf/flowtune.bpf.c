// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Flowtune's endpoint as a TCP congestion control (Flowtune, NSDI 2017, section 5.1): "The module
// reports to the allocator when socket buffers transition between empty and non-empty, and enforces
// allocated rates by delaying packets when the rate limit is exceeded. An implementation could also
// change TCP slow-start and loss/marking behavior, but our implementation keeps those unchanged."
//
// Windows and losses are those of the kernel's own CUBIC, whose functions are called. Only the
// pacing rate is set, just before the kernel sends, and only while the agent holds its lease.

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define AF_INET 2
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TCP_FIN_WAIT1 4
#define TCP_LAST_ACK 9
#define TCP_CONG_NON_RESTRICTED 1
#define CA_NAME_BYTES 16

#define MAX_FLOWLETS 65536
#define EVENT_BYTES (1 << 20)

// Fields of kernel structures. The loader finds their offsets in the running kernel (CO-RE).
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
    union {
        __u8 u6_addr8[16];
    } in6_u;
};

struct sock_common {
    __be32 skc_daddr;
    __be32 skc_rcv_saddr;
    __be16 skc_dport;
    __u16 skc_num;
    unsigned short skc_family;
    volatile unsigned char skc_state;
    struct in6_addr skc_v6_daddr;
    struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
    struct sock_common __sk_common;
    unsigned long sk_pacing_rate;
    unsigned long sk_max_pacing_rate;
    __u32 sk_pacing_status;
};

struct tcp_sock {
    __u32 snd_una;
    __u32 write_seq;
};

struct ack_sample {
    __u32 pkts_acked;
};

struct bpf_iter_meta {
    __u64 session_id;
};

struct bpf_iter__tcp {
    struct bpf_iter_meta *meta;
    struct sock_common *sk_common;
};

#pragma clang attribute pop

enum tcp_ca_event { CA_EVENT_TX_START };

// The loader matches members with the kernel's by name. `name` is first: the agent writes there.
struct tcp_congestion_ops {
    char name[CA_NAME_BYTES];
    __u32 flags;
    __u32 (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
    void (*set_state)(struct sock *sk, __u8 new_state);
    void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
    void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
    __u32 (*min_tso_segs)(struct sock *sk);
    __u32 (*undo_cwnd)(struct sock *sk);
    void (*init)(struct sock *sk);
    void (*release)(struct sock *sk);
};

extern void cubictcp_init(struct sock *sk) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 new_state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

char dual_license[] SEC("license") = "Dual MIT/GPL";

// Values of sk_pacing_status (include/net/sock.h). FQ means that the qdisc paces.
enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };

// A close is an end after which the connection has no other flowlet.
enum event_kind { FLOWLET_START = 1, FLOWLET_END = 2, FLOWLET_CLOSE = 3 };

// What the agent reads. `src/plane/event.rs` has the same layout.
struct event {
    __u64 time_ns; // CLOCK_MONOTONIC
    __u64 flowlet;
    __u64 bytes; // queued so far, at a start
    __u32 kind;
    __u16 local_port;
    __u16 remote_port;
    __u8 local[16]; // IPv6, or IPv4 mapped into it
    __u8 remote[16];
};

// A connection that uses this congestion control.
struct connection {
    __u64 flowlet; // the number of its flowlet, 0 between flowlets
    __u64 is_bound; // whether an allocated rate was applied last
    __u64 has_own_pacing; // whether the kernel paces only because of that rate
};

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct connection);
} connections SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, EVENT_BYTES);
} events SEC(".maps");

// Flowlet to its rate of payload, in bytes per second; 0 is none. A flowlet is here from its start
// to its end. The agent changes rates, and adds no flowlets.
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_FLOWLETS);
    __type(key, __u64);
    __type(value, __u64);
} rates SEC(".maps");

// The time until which rates apply, in ns of CLOCK_MONOTONIC. The agent extends it all the time, so
// that rates end with the agent, however it ends: "the rates expire and endpoint congestion control
// (e.g., TCP) takes over" (section 6).
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} lease SEC(".maps");

__u64 last_flowlet = 0;
// Starts that found the event buffer or the rates full. The next transmission tries again.
__u64 postponed_starts = 0;
// Ends that found the event buffer full. The agent finds that these flowlets have no rate.
__u64 lost_ends = 0;

static struct tcp_sock *tcp_sk(struct sock *sk)
{
    return (struct tcp_sock *)sk;
}

static void copy_address(__u8 to[16], __be32 v4)
{
    __builtin_memset(to, 0, 10);
    to[10] = to[11] = 0xff;
    __builtin_memcpy(to + 12, &v4, 4);
}

static bool report(struct sock *sk, enum event_kind kind, __u64 flowlet, __u64 bytes)
{
    struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
    struct sock_common *common = &sk->__sk_common;

    if (!event)
        return false;
    event->time_ns = bpf_ktime_get_ns();
    event->flowlet = flowlet;
    event->bytes = bytes;
    event->kind = kind;
    event->local_port = common->skc_num;
    event->remote_port = bpf_ntohs(common->skc_dport);
    if (common->skc_family == AF_INET) {
        copy_address(event->local, common->skc_rcv_saddr);
        copy_address(event->remote, common->skc_daddr);
    } else {
        BPF_CORE_READ_INTO(&event->local, common, skc_v6_rcv_saddr);
        BPF_CORE_READ_INTO(&event->remote, common, skc_v6_daddr);
    }
    bpf_ringbuf_submit(event, 0);
    return true;
}

// Bytes in the socket buffer, sent or not, that the receiver has not acknowledged. A FIN counts as
// a byte of the sequence but is no data.
static __u32 backlog_bytes(struct sock *sk)
{
    __u32 bytes = tcp_sk(sk)->write_seq - tcp_sk(sk)->snd_una;
    unsigned char state = sk->__sk_common.skc_state;
    bool has_fin = state == TCP_FIN_WAIT1 || state == TCP_LAST_ACK;

    return bytes && has_fin ? bytes - 1 : bytes;
}

static void start_flowlet(struct sock *sk, struct connection *connection)
{
    __u32 bytes = backlog_bytes(sk);
    __u64 flowlet, rate = 0;

    if (!bytes)
        return;
    flowlet = __sync_fetch_and_add(&last_flowlet, 1) + 1;
    if (!bpf_map_update_elem(&rates, &flowlet, &rate, BPF_ANY)) {
        if (report(sk, FLOWLET_START, flowlet, bytes)) {
            connection->flowlet = flowlet;
            return;
        }
        bpf_map_delete_elem(&rates, &flowlet);
    }
    __sync_fetch_and_add(&postponed_starts, 1);
}

static void end_flowlet(struct sock *sk, struct connection *connection, enum event_kind kind)
{
    bool is_reported;

    if (!connection->flowlet)
        return;
    is_reported = report(sk, kind, connection->flowlet, 0);
    bpf_map_delete_elem(&rates, &connection->flowlet);
    // After the deletion: the agent looks for flowlets without rate when this has changed.
    if (!is_reported)
        __sync_fetch_and_add(&lost_ends, 1);
    connection->flowlet = 0;
}

// The flowlet's rate in bytes per second; 0 if it has none or the lease is over.
static __u64 allocated_rate(struct connection *connection)
{
    __u32 only = 0;
    __u64 *until_ns = bpf_map_lookup_elem(&lease, &only);
    __u64 *rate;

    if (!until_ns || bpf_ktime_get_ns() >= *until_ns)
        return 0;
    rate = bpf_map_lookup_elem(&rates, &connection->flowlet);
    return rate ? *rate : 0;
}

// Let the kernel pace at `rate`, or hand the connection back to CUBIC, which is not paced, unless
// the application limits it (SO_MAX_PACING_RATE). The kernel computes its own pacing rate at each
// acknowledgement; this runs after it, before sending.
static void pace(struct sock *sk, struct connection *connection, __u64 rate)
{
    if (rate) {
        if (sk->sk_pacing_status == SK_PACING_NONE) {
            sk->sk_pacing_status = SK_PACING_NEEDED;
            connection->has_own_pacing = 1;
        }
        if (rate < sk->sk_pacing_rate)
            sk->sk_pacing_rate = rate;
        connection->is_bound = 1;
    } else if (connection->is_bound) {
        unsigned long most = sk->sk_max_pacing_rate;

        if (connection->has_own_pacing && most == ~0UL && sk->sk_pacing_status == SK_PACING_NEEDED)
            sk->sk_pacing_status = SK_PACING_NONE;
        sk->sk_pacing_rate = most;
        connection->has_own_pacing = 0;
        connection->is_bound = 0;
    }
}

SEC("struct_ops")
void BPF_PROG(flowtune_init, struct sock *sk)
{
    cubictcp_init(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(flowtune_ssthresh, struct sock *sk)
{
    return cubictcp_recalc_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(flowtune_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
    cubictcp_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
void BPF_PROG(flowtune_set_state, struct sock *sk, __u8 new_state)
{
    cubictcp_state(sk, new_state);
}

SEC("struct_ops")
void BPF_PROG(flowtune_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
    cubictcp_cwnd_event(sk, event);
}

SEC("struct_ops")
__u32 BPF_PROG(flowtune_undo_cwnd, struct sock *sk)
{
    return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops")
void BPF_PROG(flowtune_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
    struct connection *connection;

    cubictcp_acked(sk, sample);
    connection = bpf_sk_storage_get(&connections, sk, 0, 0);
    if (connection && tcp_sk(sk)->snd_una == tcp_sk(sk)->write_seq)
        end_flowlet(sk, connection, FLOWLET_END);
}

// The kernel asks for the smallest number of segments of a burst each time before it sends.
SEC("struct_ops")
__u32 BPF_PROG(flowtune_min_tso_segs, struct sock *sk)
{
    struct connection *connection =
        bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

    if (connection) {
        if (!connection->flowlet)
            start_flowlet(sk, connection);
        pace(sk, connection, allocated_rate(connection));
    }
    return 2; // the kernel's default, tcp_min_tso_segs
}

SEC("struct_ops")
void BPF_PROG(flowtune_release, struct sock *sk)
{
    struct connection *connection = bpf_sk_storage_get(&connections, sk, 0, 0);

    if (connection) {
        end_flowlet(sk, connection, FLOWLET_CLOSE);
        pace(sk, connection, 0);
    }
}

SEC(".struct_ops.link")
struct tcp_congestion_ops flowtune = {
    .name = "xoff_ft", // the agent writes its own
    .flags = TCP_CONG_NON_RESTRICTED, // or other network namespaces could not choose it
    .init = (void *)flowtune_init,
    .ssthresh = (void *)flowtune_ssthresh,
    .cong_avoid = (void *)flowtune_cong_avoid,
    .set_state = (void *)flowtune_set_state,
    .cwnd_event = (void *)flowtune_cwnd_event,
    .undo_cwnd = (void *)flowtune_undo_cwnd,
    .pkts_acked = (void *)flowtune_pkts_acked,
    .min_tso_segs = (void *)flowtune_min_tso_segs,
    .release = (void *)flowtune_release,
};
