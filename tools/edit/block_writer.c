/* SPDX-License-Identifier: MIT */
#include "tools/edit/block_writer.h"

#include <uerudp/time_ns.h>
#include <uerudp/version.h>

#define NS_PER_SECOND 1000000000
#define SNAP_BYTES 262144
#define PCAP_NANO_MAGIC UINT32_C(0xa1b23c4d)
#define PCAP_VERSION_MAJOR 2
#define PCAP_VERSION_MINOR 4
#define COPY_COMMENT "copy of the one before"

static bool fail(struct edit_writer *writer, const struct edited_block *edited, const char *what) {
    g_snprintf(writer->error, sizeof writer->error, "frame %" G_GUINT64_FORMAT ": %s", edited->frame, what);
    return false;
}

static int64_t time_ns(const struct edit_writer *writer, const struct edited_block *edited) {
    return ue_time_ns_add(edited->due_ns, writer->shift_ns);
}

/* The packet with its changes. */
static struct capture_packet packet_of(const struct edit_writer *writer, const struct edited_block *edited) {
    struct capture_packet packet = edited->packet;
    packet.time_ns = time_ns(writer, edited);
    if (edited->data != NULL) {
        packet.bytes = edited->data->data;
        packet.captured_bytes = edited->data->len;
        packet.length_bytes = edited->length_bytes;
    }
    return packet;
}

/* ---- the format of the input ---- */

static bool write_same(struct edit_writer *writer, const struct edited_block *edited, const char *comment) {
    if (writer->is_stripped && edited->block.form == CAPTURE_BLOCK_OTHER) {
        return true;
    }
    struct capture_block_change change = {
        .shift_ns = ue_time_ns_since(time_ns(writer, edited), edited->packet.time_ns),
        .comment = comment,
        .is_stripped = writer->is_stripped,
        .is_unmeasured = writer->is_changing,
    };
    if (edited->data != NULL) {
        struct capture_packet packet = packet_of(writer, edited);
        change.has_data = true;
        change.data = packet.bytes;
        change.captured_bytes = packet.captured_bytes;
        change.length_bytes = packet.length_bytes;
    }
    return capture_block_write(writer->file, &edited->block, &change) ||
           fail(writer, edited, "this file format cannot hold its new time or length; see --format");
}

/* ---- pcap ---- */

static void begin_pcap(struct edit_writer *writer, uint16_t link_type) {
    const struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t zone, accuracy, snap_bytes, link_type;
    } header = {PCAP_NANO_MAGIC, PCAP_VERSION_MAJOR, PCAP_VERSION_MINOR, 0, 0, SNAP_BYTES, link_type};
    fwrite(&header, 1, sizeof header, writer->file);
    writer->link_type = link_type;
    writer->has_link_type = true;
}

static bool write_pcap(struct edit_writer *writer, const struct edited_block *edited) {
    struct capture_packet packet = packet_of(writer, edited);
    if (!writer->has_link_type) {
        begin_pcap(writer, packet.link_type);
    }
    if (packet.link_type != writer->link_type) {
        return fail(writer, edited,
                    "its link type differs from earlier packets, and a pcap has only one; see --format");
    }
    int64_t seconds = packet.time_ns / NS_PER_SECOND;
    if (packet.time_ns < 0 || seconds > UINT32_MAX) {
        return fail(writer, edited, "a pcap cannot hold its time");
    }
    const uint32_t words[4] = {(uint32_t)seconds, (uint32_t)(packet.time_ns % NS_PER_SECOND),
                               (uint32_t)packet.captured_bytes, (uint32_t)packet.length_bytes};
    fwrite(words, 1, sizeof words, writer->file);
    fwrite(packet.bytes, 1, packet.captured_bytes, writer->file);
    return true;
}

/* ---- pcapng ---- */

static uint32_t interface_of(struct edit_writer *writer, uint16_t link_type) {
    void *key = GUINT_TO_POINTER(link_type), *number;
    if (!g_hash_table_lookup_extended(writer->interfaces, key, NULL, &number)) {
        number = GUINT_TO_POINTER(pcapng_writer_add_interface(&writer->pcapng, link_type, NULL));
        g_hash_table_insert(writer->interfaces, key, number);
    }
    return GPOINTER_TO_UINT(number);
}

static bool write_pcapng(struct edit_writer *writer, const struct edited_block *edited, const char *comment) {
    struct capture_packet packet = packet_of(writer, edited);
    if (packet.time_ns < 0) {
        return fail(writer, edited, "its new time is before 1970");
    }
    packet.comment = comment;
    packet.comment_bytes = comment != NULL ? strlen(comment) : 0;
    pcapng_writer_add_packet(&writer->pcapng, interface_of(writer, packet.link_type), &packet);
    return !writer->pcapng.failed || fail(writer, edited, "it cannot be written as pcapng");
}

/* ---- both formats ---- */

/* The first block shows the format of the input. */
static void begin(struct edit_writer *writer, const struct edited_block *first) {
    bool is_pcap = first->block.form == CAPTURE_BLOCK_FILE;
    writer->is_begun = true;
    writer->is_converting = writer->format == (is_pcap ? EDIT_FORMAT_PCAPNG : EDIT_FORMAT_PCAP);
    if (writer->is_converting && is_pcap) {
        pcapng_writer_begin(&writer->pcapng, writer->file, "uerudp " UE_VERSION);
        writer->interfaces = g_hash_table_new(NULL, NULL);
    }
}

static bool write_one(struct edit_writer *writer, const struct edited_block *edited, const char *comment) {
    if (!writer->is_converting) {
        return write_same(writer, edited, comment);
    }
    if (!edited->is_packet) {
        return true;
    }
    return writer->format == EDIT_FORMAT_PCAP ? write_pcap(writer, edited) : write_pcapng(writer, edited, comment);
}

bool edit_writer_write(struct edit_writer *writer, const struct edited_block *edited) {
    if (!writer->is_begun) {
        begin(writer, edited);
    }
    bool good = write_one(writer, edited, edited->comment != NULL ? edited->comment->str : NULL);
    for (unsigned i = 0; good && i < edited->copies; i++) {
        good = write_one(writer, edited, COPY_COMMENT);
    }
    return good;
}

bool edit_writer_finish(struct edit_writer *writer) {
    if (writer->is_converting && writer->format == EDIT_FORMAT_PCAP && !writer->has_link_type) {
        begin_pcap(writer, CAPTURE_LINK_ETHERNET);
    }
    return !writer->pcapng.failed;
}

void edit_writer_clear(struct edit_writer *writer) {
    g_clear_pointer(&writer->interfaces, g_hash_table_unref);
}
