/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/compat.h"

#include <stdlib.h>
#include <string.h>

#include <epan/packet.h>

#include "tests/bench/plugin/bare_items.h"

#define DEPTH_MAX 16
#define FIELD_COLUMNS 3
#define ITEM_COLUMNS 8

struct bare_item {
    enum ftenum type;
    unsigned field, depth;
    int start, length;
    bool is_parent;
    uint64_t number;
    double real;
    nstime_t time;
    const char *text;
};

static int protocol = -1;
static int subtree = -1;
static int *field_ids;
static GArray *fields; /* hf_register_info */
static GArray *items;  /* struct bare_item, frame by frame */
static GArray *firsts; /* unsigned: the index of the first item of each frame */

/* ---- the list ---- */

static enum ftenum type_of(const char *name) {
    int type = FT_NONE;
    while (type < FT_NUM_TYPES && strcmp(ftype_name((enum ftenum)type), name) != 0) {
        type++;
    }
    if (type == FT_NUM_TYPES) {
        g_error("uebare: no field type %s", name);
    }
    return (enum ftenum)type;
}

static void read_field(char **columns) {
    enum ftenum type = type_of(columns[1]);
    bool is_number = g_str_has_prefix(columns[1], "FT_UINT") || g_str_has_prefix(columns[1], "FT_INT");
    const hf_register_info row = {
        NULL, {"Item", g_strdup(columns[2]), type, is_number ? BASE_DEC : BASE_NONE, NULL, 0, NULL, HFILL}};
    g_array_append_val(fields, row);
}

static void begin_frames(unsigned count) {
    while (firsts->len < count) {
        g_array_append_val(firsts, items->len);
    }
}

static void read_item(char **columns) {
    struct bare_item item = {.depth = (unsigned)atoi(columns[2]),
                             .field = (unsigned)atoi(columns[3]),
                             .start = atoi(columns[4]),
                             .length = atoi(columns[5]),
                             .is_parent = atoi(columns[6]),
                             .number = g_ascii_strtoull(columns[7], NULL, 10),
                             .real = g_ascii_strtod(columns[7], NULL),
                             .time.secs = atoi(columns[7]),
                             .text = g_strdup(columns[7])};
    if (item.depth == 0 || item.depth >= DEPTH_MAX || item.field >= fields->len) {
        g_error("uebare: no depth %u or no field %u", item.depth, item.field);
    }
    item.type = g_array_index(fields, hf_register_info, item.field).hfinfo.type;
    begin_frames((unsigned)atoi(columns[1]) + 1);
    g_array_append_val(items, item);
}

static void read_list(const char *path) {
    char *content;
    if (!g_file_get_contents(path, &content, NULL, NULL)) {
        g_error("uebare: cannot read %s", path);
    }
    char **lines = g_strsplit(content, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        char **columns = g_strsplit(*line, "\t", ITEM_COLUMNS);
        unsigned count = g_strv_length(columns);
        if (count == FIELD_COLUMNS) {
            read_field(columns);
        } else if (count == ITEM_COLUMNS) {
            read_item(columns);
        }
        g_strfreev(columns);
    }
    begin_frames(firsts->len + 1);
    g_strfreev(lines);
    g_free(content);
}

/* ---- the dissector ---- */

static proto_item *add_item(const struct bare_item *item, proto_tree *tree, tvbuff_t *tvb) {
    int id = field_ids[item->field];
    uint32_t number = (uint32_t)item->number;
    switch (item->type) {
    case FT_BOOLEAN: return proto_tree_add_boolean(tree, id, tvb, item->start, item->length, number);
    case FT_UINT64: return proto_tree_add_uint64(tree, id, tvb, item->start, item->length, item->number);
    case FT_INT32: return proto_tree_add_int(tree, id, tvb, item->start, item->length, (int32_t)number);
    case FT_DOUBLE: return proto_tree_add_double(tree, id, tvb, item->start, item->length, item->real);
    case FT_STRING: return proto_tree_add_string(tree, id, tvb, item->start, item->length, item->text);
    case FT_RELATIVE_TIME: return proto_tree_add_time(tree, id, tvb, item->start, item->length, &item->time);
    case FT_NONE:
    case FT_BYTES: return proto_tree_add_item(tree, id, tvb, item->start, item->length, ENC_NA);
    default: return proto_tree_add_uint(tree, id, tvb, item->start, item->length, number);
    }
}

static void add_items(tvbuff_t *tvb, proto_tree *tree, unsigned from, unsigned to) {
    proto_tree *trees[DEPTH_MAX + 1] = {NULL, tree};
    for (unsigned i = from; i < to; i++) {
        const struct bare_item *item = &g_array_index(items, struct bare_item, i);
        proto_item *added = add_item(item, trees[item->depth], tvb);
        if (item->is_parent) {
            trees[item->depth + 1] = proto_item_add_subtree(added, subtree);
        }
    }
}

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_) {
    proto_item *root = proto_tree_add_item(tree, protocol, tvb, 0, -1, ENC_NA);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "BARE");
    if (pinfo->num + 1 < firsts->len) {
        const unsigned *first = &g_array_index(firsts, unsigned, pinfo->num);
        add_items(tvb, proto_item_add_subtree(root, subtree), first[0], first[1]);
    }
    return (int)tvb_reported_length(tvb);
}

static void register_fields(void) {
    hf_register_info *rows = (hf_register_info *)(void *)fields->data;
    field_ids = g_new(int, fields->len);
    for (unsigned i = 0; i < fields->len; i++) {
        field_ids[i] = -1;
        rows[i].p_id = &field_ids[i];
    }
    proto_register_field_array(protocol, rows, (int)fields->len);
}

void bare_items_register(void) {
    static int *subtrees[] = {&subtree};
    fields = g_array_new(FALSE, FALSE, sizeof(hf_register_info));
    items = g_array_new(FALSE, FALSE, sizeof(struct bare_item));
    firsts = g_array_new(FALSE, FALSE, sizeof(unsigned));
    protocol = proto_register_protocol("Bare items", "BARE", "uebare");
    if (getenv("UEBARE_ITEMS") != NULL) {
        read_list(getenv("UEBARE_ITEMS"));
        register_fields();
    }
    proto_register_subtree_array(subtrees, array_length(subtrees));
    register_dissector("uebare", dissect, protocol);
}

void bare_items_hand_off(void) {
    dissector_add_for_decode_as("udp.port", find_dissector("uebare"));
}
