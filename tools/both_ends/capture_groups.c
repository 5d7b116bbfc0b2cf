/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/capture_groups.h"

#include <stdlib.h>

#include "tools/both_ends/end_capture.h"

/* Other datagrams, such as announcements of the local network, can be equal in several files. */
#define COMMON_MIN 3

static int compare(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

/* The hashes of the first bytes of all datagrams, ascending; empty if the file cannot be read. */
static GArray *read_hashes(const char *path) {
    GArray *hashes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct datagram_source input = {0};
    struct source_datagram datagram;
    bool is_udp;
    if (datagram_source_open(&input, path, false)) {
        while (datagram_source_next(&input, &datagram, &is_udp) == CAPTURE_PACKET) {
            if (is_udp) {
                uint64_t hash = end_capture_hash(datagram.udp.payload, datagram.udp.captured_bytes,
                                                 datagram.udp.length_bytes, true);
                g_array_append_val(hashes, hash);
            }
        }
    }
    datagram_source_clear(&input);
    if (hashes->len != 0) {
        qsort(hashes->data, hashes->len, sizeof(uint64_t), compare);
    }
    return hashes;
}

static guint skip_equal(const GArray *hashes, guint at) {
    uint64_t hash = g_array_index(hashes, uint64_t, at);
    while (at < hashes->len && g_array_index(hashes, uint64_t, at) == hash) {
        at++;
    }
    return at;
}

static bool have_common(const GArray *a, const GArray *b) {
    guint i = 0, j = 0, common = 0;
    while (i < a->len && j < b->len && common < COMMON_MIN) {
        uint64_t one = g_array_index(a, uint64_t, i), two = g_array_index(b, uint64_t, j);
        common += one == two;
        i = one <= two ? skip_equal(a, i) : i;
        j = two <= one ? skip_equal(b, j) : j;
    }
    return common == COMMON_MIN;
}

/* The group of a file, by those before it; false: it has packets of both. */
static bool find_group(GPtrArray *files, unsigned *groups) {
    guint last = files->len - 1;
    bool has_common[2] = {false, false};
    for (guint i = 0; i < last; i++) {
        has_common[groups[i]] |= have_common(g_ptr_array_index(files, i), g_ptr_array_index(files, last));
    }
    groups[last] = has_common[0];
    return !has_common[0] || !has_common[1];
}

static void free_array(gpointer array) {
    g_array_unref(array);
}

bool capture_groups_find(char **paths, int path_count, unsigned *groups) {
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(free_array);
    bool is_good = true, are_two = false;
    for (int i = 0; i < path_count; i++) {
        is_good = is_good && g_file_test(paths[i], G_FILE_TEST_IS_REGULAR);
    }
    for (int i = 0; is_good && i < path_count; i++) {
        g_ptr_array_add(files, read_hashes(paths[i]));
        is_good = find_group(files, groups);
        are_two |= groups[i] != 0;
    }
    return is_good && are_two;
}
