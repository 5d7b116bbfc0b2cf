/* SPDX-License-Identifier: MIT */
/* Arbitrary bits as a whole message of any kind and generation, which is traced and from which guids are learned. The
   first five bytes select the context; seed.py writes the same form. */
#include <stdlib.h>

#include <uerudp/guid_map.h>
#include "tests/support/content_tally.h"
#include "tests/support/heap.h"

#define HEADER_BYTES 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_header(const uint8_t *header, struct ue_context *x, struct ue_content *content) {
    struct ue_settings settings = {
        .internal_ack = (header[1] & 4) != 0,
        .guid_bits = (header[1] & 8) != 0 ? 128 : 0,
        .netver = header[3] % 61,
    };
    ue_context_init(x, ue_profile_at(header[0] % UE_PROFILE_COUNT), &settings);
    x->direction = (enum ue_direction)((header[1] & 3) % 3);
    *content = (struct ue_content){
        .kind = (enum ue_content_kind)((header[2] & 7) % (UE_CONTENT_DATA_STREAM + 1)),
        .open = (header[2] & 8) != 0,
        .close = (header[2] & 16) != 0,
        .has_exports = (header[2] & 32) != 0,
        .has_mapped = (header[2] & 64) != 0,
        .is_custom_exports = (header[2] & 128) != 0,
    };
}

struct guid_paths {
    struct ue_guid_map *map;
    char path[UE_GUID_MAP_PATH_MAX + 1];
};

static const char *path_of(void *user, uint64_t guid) {
    struct guid_paths *paths = user;
    return ue_guid_map_path(paths->map, guid, 1, paths->path) != 0 ? paths->path : NULL;
}

/* For tests/fuzz/prove.sh: reads one byte past the end, as an unchecked length would. */
static void plant_bug(const struct content_tally *tally, const struct ue_content *content) {
#ifdef UERUDP_PLANT_BUG
    static volatile uint8_t read;
    if (tally->faults == 0 && tally->groups[UE_GROUP_BLOCK] >= 2 && tally->fields[UE_F_BLOCK_CLASS] != 0) {
        read = (uint8_t)(read + content->data.base[ue_bits_bytes(content->data.bits)]);
    }
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct content_tally tally = {0};
    struct ue_content content;
    struct ue_context x;
    struct guid_paths paths = {.map = ue_guid_map_new(&heap)};
    const struct ue_guid_names names = {path_of, &paths};
    if (size > HEADER_BYTES) {
        read_header(data, &x, &content);
        size -= HEADER_BYTES;
        uint8_t *bytes = malloc(size); /* a block of the exact size, so that the sanitizer finds reads past its end */
        memcpy(bytes, data + HEADER_BYTES, size);
        content.data = (struct ue_view){bytes, 0, size * 8 - data[4] % 8};
        ue_guid_map_learn(paths.map, &x, &content, 1);
        content_tally_add(&tally, &x, &content, &names);
        if (tally.problem != NULL) {
            abort();
        }
        plant_bug(&tally, &content);
        free(bytes);
    }
    ue_guid_map_free(paths.map);
    return 0;
}
