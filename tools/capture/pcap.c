/* SPDX-License-Identifier: MIT */
/* Classic pcap. libpcap parses it; it reads through a stdio stream whose bytes are those of a source. */
#define _GNU_SOURCE /* fopencookie */
#include "tools/capture/format.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKTYPE_RAW 101
#define STREAM_BYTES 65536

struct ue_pcap {
    struct ue_source *source;
    pcap_t *handle;
    uint16_t link_type;
};

static ssize_t stream_read(void *cookie, char *into, size_t size) {
    struct ue_source *source = cookie;
    size_t count = ue_source_fill(source, 1);

    count = count < size ? count : size;
    if (count > 0)
        memcpy(into, source->window, count);
    ue_source_skip(source, count);
    return (ssize_t)count;
}

/* Only says where the stream is. */
static int stream_seek(void *cookie, off64_t *offset, int whence) {
    const struct ue_source *source = cookie;

    if (whence != SEEK_CUR || *offset != 0)
        return -1;
    *offset = (off64_t)source->offset;
    return 0;
}

/* libpcap maps a file's link type to the platform's number, which differs for one that matters here. */
static uint16_t link_type_of(int datalink) {
    return datalink == DLT_RAW ? LINKTYPE_RAW : (uint16_t)datalink;
}

struct ue_pcap *ue_pcap_open(struct ue_source *source, char error[UE_CAPTURE_ERROR_BYTES]) {
    const cookie_io_functions_t functions = {.read = stream_read, .seek = stream_seek};
    char text[PCAP_ERRBUF_SIZE] = "out of memory";
    struct ue_pcap *pcap = calloc(1, sizeof *pcap);
    FILE *stream = pcap == NULL ? NULL : fopencookie(source, "rb", functions);

    if (stream != NULL) {
        setvbuf(stream, NULL, _IOFBF, STREAM_BYTES);
        pcap->handle = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, text);
        if (pcap->handle == NULL)
            fclose(stream);
    }
    if (stream == NULL || pcap->handle == NULL) {
        snprintf(error, UE_CAPTURE_ERROR_BYTES, "%.200s", source->error[0] != '\0' ? source->error : text);
        free(pcap);
        return NULL;
    }
    pcap->source = source;
    pcap->link_type = link_type_of(pcap_datalink(pcap->handle));
    return pcap;
}

enum ue_capture_result ue_pcap_next(struct ue_pcap *pcap, struct ue_capture_packet *packet,
                                    char error[UE_CAPTURE_ERROR_BYTES]) {
    off64_t offset = ftello64(pcap_file(pcap->handle));
    struct pcap_pkthdr *header;
    const uint8_t *bytes;
    int status = pcap_next_ex(pcap->handle, &header, &bytes);

    if (status == PCAP_ERROR_BREAK && pcap->source->error[0] == '\0')
        return UE_CAPTURE_END;
    if (status != 1) {
        const char *text = pcap->source->error[0] != '\0' ? pcap->source->error : pcap_geterr(pcap->handle);

        snprintf(error, UE_CAPTURE_ERROR_BYTES, "packet at byte %lld: %.200s", (long long)offset, text);
        return UE_CAPTURE_DAMAGED;
    }
    *packet = (struct ue_capture_packet){
        .time_ns = (int64_t)(uint32_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec,
        .bytes = bytes,
        .captured_bytes = header->caplen,
        .length_bytes = header->len > header->caplen ? header->len : header->caplen,
        .link_type = pcap->link_type,
    };
    return UE_CAPTURE_PACKET;
}

void ue_pcap_close(struct ue_pcap *pcap) {
    if (pcap == NULL)
        return;
    pcap_close(pcap->handle);
    free(pcap);
}
