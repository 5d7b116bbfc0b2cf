/* SPDX-License-Identifier: MIT */
#include "tools/capture/interface.h"

#include <glib.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <uerudp/time_ns.h>

#define SNAP_BYTES 262144
#define BUFFER_BYTES (16 << 20)
#define WAIT_MS 100 /* delay until a stop request is noticed */
#define LINK_RAW 101

struct capture_interface {
    pcap_t *pcap;
    int fd; /* readable when packets are waiting */
    struct capture_interface_options options;
    int64_t begun_us;
    uint64_t frames;
    uint16_t link_type;
    enum capture_result last;
    char error[CAPTURE_ERROR_BYTES];
};

/* ---- opening ---- */

/* As far as the message has room. */
static void name_interfaces(char error[CAPTURE_ERROR_BYTES]) {
    char reason[PCAP_ERRBUF_SIZE];
    pcap_if_t *all = NULL;
    if (pcap_findalldevs(&all, reason) == 0 && all != NULL) {
        const char *separator = "; interfaces: ";
        for (const pcap_if_t *one = all; one != NULL; one = one->next) {
            g_strlcat(error, separator, CAPTURE_ERROR_BYTES);
            g_strlcat(error, one->name, CAPTURE_ERROR_BYTES);
            separator = ", ";
        }
        pcap_freealldevs(all);
    }
}

static void explain(const struct capture_interface *device, int status, char error[CAPTURE_ERROR_BYTES]) {
    switch (status) {
    case PCAP_ERROR_PERM_DENIED:
        snprintf(error, CAPTURE_ERROR_BYTES,
                 "no permission to capture: run as root, or use a program that has it, as in tcpdump -i %.20s -w - "
                 "udp | uerudp decode -",
                 device->options.name);
        break;
    case PCAP_ERROR_NO_SUCH_DEVICE:
        snprintf(error, CAPTURE_ERROR_BYTES, "there is no such interface");
        name_interfaces(error);
        break;
    case PCAP_ERROR_IFACE_NOT_UP: snprintf(error, CAPTURE_ERROR_BYTES, "the interface is not up"); break;
    default: snprintf(error, CAPTURE_ERROR_BYTES, "cannot capture: %s", pcap_geterr(device->pcap)); break;
    }
}

/* Packets arrive immediately, not when a buffer is full, because somebody may be watching. Not every interface has
   nanoseconds. */
static bool configure(pcap_t *pcap) {
    int precision = pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
    return (precision == 0 || precision == PCAP_ERROR_TSTAMP_PRECISION_NOTSUP) &&
           pcap_set_snaplen(pcap, SNAP_BYTES) == 0 && pcap_set_buffer_size(pcap, BUFFER_BYTES) == 0 &&
           pcap_set_promisc(pcap, 1) == 0 && pcap_set_immediate_mode(pcap, 1) == 0;
}

static bool activate(struct capture_interface *device, char error[CAPTURE_ERROR_BYTES]) {
    pcap_t *pcap = device->pcap;
    int status = configure(pcap) ? pcap_activate(pcap) : PCAP_ERROR;
    if (status < 0) {
        explain(device, status, error);
        return false;
    }
    char reason[PCAP_ERRBUF_SIZE];
    device->fd = pcap_get_selectable_fd(pcap);
    if (device->fd < 0 || pcap_setnonblock(pcap, 1, reason) != 0) {
        snprintf(error, CAPTURE_ERROR_BYTES, "this interface does not support waiting for packets");
        return false;
    }
    return true;
}

static bool set_filter(struct capture_interface *device, char error[CAPTURE_ERROR_BYTES]) {
    struct bpf_program program;
    if (device->options.filter == NULL) {
        return true;
    }
    if (pcap_compile(device->pcap, &program, device->options.filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        snprintf(error, CAPTURE_ERROR_BYTES, "invalid filter: %s", pcap_geterr(device->pcap));
        return false;
    }
    bool good = pcap_setfilter(device->pcap, &program) == 0;
    if (!good) {
        snprintf(error, CAPTURE_ERROR_BYTES, "cannot filter: %s", pcap_geterr(device->pcap));
    }
    pcap_freecode(&program);
    return good;
}

/* DLT_ and LINKTYPE_ numbers differ for raw IP only, among the link types that packet_headers.c parses. */
static uint16_t link_type(pcap_t *pcap) {
    int type = pcap_datalink(pcap);
    return type == DLT_RAW ? LINK_RAW : (uint16_t)type;
}

struct capture_interface *capture_interface_open(const struct capture_interface_options *options,
                                                 char error[CAPTURE_ERROR_BYTES]) {
    char reason[PCAP_ERRBUF_SIZE] = "";
    struct capture_interface *device = g_new0(struct capture_interface, 1);
    device->options = *options;
    device->pcap = pcap_create(options->name, reason);
    if (device->pcap == NULL) {
        snprintf(error, CAPTURE_ERROR_BYTES, "cannot capture: %.200s", reason);
    } else if (activate(device, error) && set_filter(device, error)) {
        device->link_type = link_type(device->pcap);
        device->begun_us = g_get_monotonic_time();
        return device;
    }
    capture_interface_close(device);
    return NULL;
}

/* ---- packets ---- */

static bool is_over(const struct capture_interface *device) {
    const struct capture_interface_options *o = &device->options;
    return (o->stop != NULL && *o->stop != 0) || (o->packets != 0 && device->frames >= o->packets) ||
           (o->duration_us != 0 && g_get_monotonic_time() - device->begun_us >= o->duration_us);
}

static void fill(struct capture_interface *device, const struct pcap_pkthdr *header, const u_char *bytes,
                 struct capture_packet *packet) {
    bool is_nano = pcap_get_tstamp_precision(device->pcap) == PCAP_TSTAMP_PRECISION_NANO;
    *packet = (struct capture_packet){
        .frame = ++device->frames,
        .time_ns = (int64_t)header->ts.tv_sec * UE_NS_PER_S + (int64_t)header->ts.tv_usec * (is_nano ? 1 : 1000),
        .bytes = bytes,
        .captured_bytes = header->caplen,
        .length_bytes = header->len,
        .interface = device->options.name,
        .link_type = device->link_type,
    };
}

/* libpcap's own wait may ignore the time limit and signals while no packet arrives. */
static void wait_for_packets(const struct capture_interface *device) {
    struct pollfd waiting = {.fd = device->fd, .events = POLLIN};
    poll(&waiting, 1, WAIT_MS);
}

enum capture_result capture_interface_next(struct capture_interface *device, struct capture_packet *packet) {
    struct pcap_pkthdr *header;
    const u_char *bytes;
    while (device->last == CAPTURE_PACKET) {
        int status = 0;
        if (is_over(device)) {
            device->last = CAPTURE_END;
        } else if ((status = pcap_next_ex(device->pcap, &header, &bytes)) == 1) {
            fill(device, header, bytes, packet);
            return CAPTURE_PACKET;
        } else if (status < 0) {
            snprintf(device->error, sizeof device->error, "%s", pcap_geterr(device->pcap));
            device->last = CAPTURE_DAMAGED;
        } else {
            wait_for_packets(device);
        }
    }
    return device->last;
}

const char *capture_interface_error(const struct capture_interface *device) {
    return device->error;
}

uint64_t capture_interface_dropped(const struct capture_interface *device) {
    struct pcap_stat counts;
    return pcap_stats(device->pcap, &counts) == 0 ? counts.ps_drop : 0;
}

void capture_interface_close(struct capture_interface *device) {
    if (device == NULL) {
        return;
    }
    g_clear_pointer(&device->pcap, pcap_close);
    g_free(device);
}
