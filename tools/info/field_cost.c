/* SPDX-License-Identifier: MIT */
#include "tools/info/field_cost.h"

/* One datagram whose bits are being assigned to parts. */
struct tally {
    struct info_cost *cost;
    const struct info_channels *channels;
    unsigned side;
    size_t limit;   /* captured bits */
    size_t covered; /* bits before this offset are assigned */
    size_t gaps;    /* bits that no field covers */
    uint32_t channel;
    size_t message_bit;
    uint64_t *payload; /* the part that holds the last payload; messages in it are subtracted */

    bool is_decrypted;      /* inside decrypted content, whose bits are subtracted from the ciphertext */
    size_t ciphertext_bits; /* bits of ciphertext that are not assigned yet */
    size_t outside;         /* bits assigned before the decrypted content */
};

/* ---- payload ---- */

static struct info_cost_name *find_name(struct info_cost *cost, const char *text) {
    for (size_t i = 0; i < cost->name_count; i++) {
        if (strcmp(cost->names[i].text, text) == 0) {
            return &cost->names[i];
        }
    }
    if (cost->name_count == INFO_COST_NAMES_MAX) {
        return &cost->names[INFO_COST_NAMES_MAX - 1];
    }
    struct info_cost_name *name = &cost->names[cost->name_count++];
    g_strlcpy(name->text, cost->name_count == INFO_COST_NAMES_MAX ? "other names" : text, sizeof name->text);
    return name;
}

static uint64_t *payload_part(struct tally *tally) {
    const char *name = tally->channel == 0 ? "Control" : info_channels_name(tally->channels, tally->channel);
    return &find_name(tally->cost, name)->bits[tally->side];
}

/* ---- the trace ---- */

/* The number of bits of a record that are not assigned yet; 0 for a field inside another or for the same bits under
   another name. */
static size_t cover(struct tally *tally, const struct ue_record *record) {
    size_t end = MIN(record->bit + record->bits, tally->limit);
    if (end <= tally->covered) {
        return 0;
    }
    if (record->bit > tally->covered) {
        tally->gaps += record->bit - tally->covered;
        tally->covered = record->bit;
    }
    size_t fresh = end - tally->covered;
    tally->covered = end;
    return fresh;
}

/* Assigns bits of decrypted content and removes them from the ciphertext. */
static size_t cover_decrypted(struct tally *tally, const struct ue_record *record) {
    size_t gaps = tally->gaps;
    size_t fresh = MIN(cover(tally, record), tally->ciphertext_bits);
    tally->gaps = gaps;
    tally->ciphertext_bits -= fresh;
    tally->cost->fields[UE_F_HANDLER_CIPHERTEXT][tally->side] -= fresh;
    return fresh;
}

static void count_field(void *user, const struct ue_record *record) {
    struct tally *tally = user;
    if (record->generated) {
        return;
    }
    size_t fresh = tally->is_decrypted ? cover_decrypted(tally, record) : cover(tally, record);
    if (record->field == UE_F_BUNCH_CHANNEL) {
        tally->channel = (uint32_t)record->number;
    }
    if (record->field == UE_F_BUNCH_DATA) {
        tally->payload = payload_part(tally);
        *tally->payload += fresh;
    } else {
        tally->cost->fields[record->field][tally->side] += fresh;
    }
    if (record->field == UE_F_HANDLER_CIPHERTEXT) {
        tally->ciphertext_bits = fresh;
    }
}

static void begin_group(void *user, enum ue_group group, size_t bit) {
    struct tally *tally = user;
    if (group == UE_GROUP_MESSAGE) {
        tally->message_bit = bit;
    } else if (group == UE_GROUP_OPENED) {
        tally->outside = tally->is_decrypted ? tally->outside : tally->covered;
        tally->is_decrypted = true;
        tally->covered = 0;
    }
}

static void end_group(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct tally *tally = user;
    if (group == UE_GROUP_MESSAGE && tally->payload != NULL) {
        const struct ue_message *message = structure;
        uint64_t bits = MIN(bit - tally->message_bit, *tally->payload);
        *tally->payload -= bits;
        tally->cost->messages[message->type % INFO_COST_MESSAGES][tally->side] += bits;
    }
}

void info_cost_add(struct info_cost *cost, const struct info_cost_datagram *datagram,
                   const struct info_channels *channels) {
    unsigned side = datagram->side;
    size_t captured_bits = datagram->captured_bytes * 8;
    struct tally tally = {.cost = cost, .channels = channels, .side = side, .limit = captured_bits};
    struct ue_trace sink = {begin_group, count_field, end_group, &tally};
    struct ue_decode_result result;
    ue_datagram_trace(datagram->context, datagram->bytes, datagram->size_bytes, NULL, &sink, &result);
    size_t covered = tally.is_decrypted ? tally.outside : tally.covered;
    bool is_whole = result.fault.status == UE_OK && datagram->captured_bytes == datagram->length_bytes;
    uint64_t *rest = is_whole ? cost->padding : cost->unreadable;
    rest[side] += tally.gaps + captured_bits - covered;
    cost->not_captured[side] += (datagram->length_bytes - datagram->captured_bytes) * 8;
    cost->datagrams[side]++;
    cost->total[side] += datagram->length_bytes * 8;
    cost->overhead[side] += 8 * (datagram->is_ipv6 ? UE_IPV6_UDP_BYTES : UE_IPV4_UDP_BYTES);
}

/* ---- parts ---- */

static void add_part(GArray *parts, const char *group, const char *name, const uint64_t bits[2]) {
    struct info_cost_part part = {group, name, {bits[0], bits[1]}};
    if (bits[0] + bits[1] != 0) {
        g_array_append_val(parts, part);
    }
}

static const char *group_of(enum ue_field field) {
    static const struct {
        const char *prefix, *group;
    } groups[] = {{"handshake.", "handshake"}, {"handler.", "handlers"},   {"packet.", "packet header"},
                  {"legacy.", "acks"},         {"bunch.", "bunch header"}, {"terminator", "end"}};
    for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
        if (g_str_has_prefix(ue_field_row(field)->name, groups[i].prefix)) {
            return groups[i].group;
        }
    }
    return "prefix";
}

/* Adds the fields in the order of the catalogue, which is nearly the order on the wire. */
static void add_fields(GArray *parts, const struct info_cost *cost, bool is_end) {
    for (int field = 0; field < UE_FIELD_COUNT; field++) {
        if ((field == UE_F_TERMINATOR) == is_end) {
            add_part(parts, group_of((enum ue_field)field), ue_field_row((enum ue_field)field)->name,
                     cost->fields[field]);
        }
    }
}

GArray *info_cost_parts(const struct info_cost *cost) {
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct info_cost_part));
    add_fields(parts, cost, false);
    for (unsigned type = 0; type < INFO_COST_MESSAGES; type++) {
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, type);
        add_part(parts, "control message", name != NULL ? name : "unknown", cost->messages[type]);
    }
    for (size_t i = 0; i < cost->name_count; i++) {
        add_part(parts, "payload", cost->names[i].text, cost->names[i].bits);
    }
    add_fields(parts, cost, true);
    add_part(parts, "end", "padding", cost->padding);
    add_part(parts, "damage", "unreadable", cost->unreadable);
    add_part(parts, "damage", "not captured", cost->not_captured);
    return parts;
}
