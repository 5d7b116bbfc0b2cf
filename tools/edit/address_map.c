/* SPDX-License-Identifier: MIT */
#include "tools/edit/address_map.h"

#include <gcrypt.h>
#include <string.h>

#define KEY_BYTES 16
#define BLOCK_BYTES 16
#define CACHED 4096
#define MAC_BYTES 6
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define NO_OPERATION 1 /* the IPv4 option without effect, used as padding */

/* An address and its replacement; size_bytes 0: unused. */
struct cached {
    uint8_t size_bytes;
    uint8_t bytes[16], mapped[16];
};

struct address_map {
    gcry_cipher_hd_t cipher;
    uint8_t pad[BLOCK_BYTES];
    struct cached cache[CACHED];
};

/* ---- keys ---- */

static void make_key(const uint64_t *seed, uint8_t key[KEY_BYTES + BLOCK_BYTES]) {
    if (seed == NULL) {
        gcry_randomize(key, KEY_BYTES + BLOCK_BYTES, GCRY_STRONG_RANDOM);
        return;
    }
    char text[32];
    int length = g_snprintf(text, sizeof text, "uerudp %" G_GUINT64_FORMAT, *seed);
    gcry_md_hash_buffer(GCRY_MD_SHA256, key, text, (size_t)length);
}

struct address_map *address_map_new(const uint64_t *seed) {
    uint8_t key[KEY_BYTES + BLOCK_BYTES];
    struct address_map *map = g_new0(struct address_map, 1);
    gcry_check_version(NULL);
    make_key(seed, key);
    if (gcry_cipher_open(&map->cipher, GCRY_CIPHER_AES128, GCRY_CIPHER_MODE_ECB, 0) != 0 ||
        gcry_cipher_setkey(map->cipher, key, KEY_BYTES) != 0) {
        g_clear_pointer(&map, address_map_free);
        return NULL;
    }
    gcry_cipher_encrypt(map->cipher, map->pad, BLOCK_BYTES, key + KEY_BYTES, BLOCK_BYTES);
    return map;
}

void address_map_free(struct address_map *map) {
    if (map != NULL) {
        gcry_cipher_close(map->cipher);
        g_free(map);
    }
}

/* ---- IP ---- */

static bool is_special_ipv4(const uint8_t *bytes) {
    bool is_zero = bytes[0] == 0;
    return is_zero || bytes[0] == 127 || bytes[0] >= 224;
}

static bool is_special_ipv6(const uint8_t *bytes) {
    static const uint8_t zeros[15];
    return bytes[0] == 0xff || (memcmp(bytes, zeros, 15) == 0 && bytes[15] <= 1);
}

static bool is_special(const uint8_t *bytes, size_t size_bytes) {
    return size_bytes == 4 ? is_special_ipv4(bytes) : is_special_ipv6(bytes);
}

/* A pseudorandom bit that depends only on a prefix of the address. */
static bool bit_for_prefix(struct address_map *map, const uint8_t *bytes, size_t bits) {
    uint8_t block[BLOCK_BYTES], out[BLOCK_BYTES];
    memcpy(block, map->pad, sizeof block);
    memcpy(block, bytes, bits / 8);
    if (bits % 8 != 0) {
        uint8_t mask = (uint8_t)(0xff00u >> bits % 8);
        block[bits / 8] = (uint8_t)((bytes[bits / 8] & mask) | (block[bits / 8] & ~mask));
    }
    gcry_cipher_encrypt(map->cipher, out, sizeof out, block, sizeof block);
    return out[0] >> 7;
}

/* Each bit is kept or inverted depending on the bits before it, so addresses keep the length of their common prefix. */
static void permute(struct address_map *map, uint8_t *bytes, size_t size_bytes) {
    uint8_t mapped[16] = {0};
    for (size_t i = 0; i < size_bytes * 8; i++) {
        unsigned bit = (bytes[i / 8] >> (7 - i % 8) & 1u) ^ bit_for_prefix(map, bytes, i);
        mapped[i / 8] |= (uint8_t)(bit << (7 - i % 8));
    }
    memcpy(bytes, mapped, size_bytes);
}

static struct cached *slot_of(struct address_map *map, const uint8_t *bytes, size_t size_bytes) {
    uint64_t hash = size_bytes;
    for (size_t i = 0; i < size_bytes; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return &map->cache[(hash ^ hash >> 29) % CACHED];
}

void address_map_apply(struct address_map *map, uint8_t *bytes, size_t size_bytes) {
    if (is_special(bytes, size_bytes)) {
        return;
    }
    struct cached *slot = slot_of(map, bytes, size_bytes);
    if (slot->size_bytes != size_bytes || memcmp(slot->bytes, bytes, size_bytes) != 0) {
        slot->size_bytes = (uint8_t)size_bytes;
        memcpy(slot->bytes, bytes, size_bytes);
        memcpy(slot->mapped, bytes, size_bytes);
        do { /* repeats while the result is a special address, so that the mapping stays one to one */
            permute(map, slot->mapped, size_bytes);
        } while (is_special(slot->mapped, size_bytes));
    }
    memcpy(bytes, slot->mapped, size_bytes);
}

/* ---- links ---- */

/* The replacement is a locally administered address; group addresses identify no machine and stay. */
static void map_mac(struct address_map *map, uint8_t *mac) {
    uint8_t block[BLOCK_BYTES] = {'m', 'a', 'c'}, out[BLOCK_BYTES];
    if ((mac[0] & 1) != 0) {
        return;
    }
    memcpy(block + 8, mac, MAC_BYTES);
    gcry_cipher_encrypt(map->cipher, out, sizeof out, block, sizeof block);
    memcpy(mac, out, MAC_BYTES);
    mac[0] = (uint8_t)((mac[0] & 0xfc) | 2);
}

/* For each link type, the offset and the number of consecutive MAC addresses; link types without any are listed too. */
static const struct {
    uint16_t link_type;
    uint8_t offset, count;
} links[] = {
    {0, 0, 0},  {108, 0, 0}, {101, 0, 0}, {12, 0, 0},  {14, 0, 0},  {228, 0, 0}, {229, 0, 0}, {9, 0, 0},
    {50, 0, 0}, {51, 0, 0},  {104, 0, 0}, {109, 0, 0}, {204, 0, 0}, {1, 0, 2},   {113, 6, 1}, {276, 12, 1},
};

static bool replace_link(struct address_map *map, uint16_t link_type, uint8_t *bytes, size_t size_bytes) {
    for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
        if (links[i].link_type == link_type) {
            for (size_t j = 0; j < links[i].count; j++) {
                size_t at = links[i].offset + j * MAC_BYTES;
                if (at + MAC_BYTES <= size_bytes) {
                    map_mac(map, bytes + at);
                }
            }
            return true;
        }
    }
    return false;
}

/* ---- packets ---- */

static void replace_ip(struct address_map *map, const struct capture_packet_offsets *place, uint8_t *bytes) {
    uint8_t *ip = bytes + place->network;
    if (place->family == CAPTURE_IPV4) {
        address_map_apply(map, ip + 12, 4);
        address_map_apply(map, ip + 16, 4);
        memset(ip + IPV4_BYTES, NO_OPERATION, place->transport - place->network - IPV4_BYTES);
    } else {
        address_map_apply(map, ip + 8, 16);
        address_map_apply(map, ip + 24, 16);
    }
}

/* The end of the parsed headers; what follows may hold other addresses, as IPv6 extension headers may. */
static size_t end_of_known(const struct capture_packet_offsets *place, size_t size_bytes) {
    size_t header = place->family == CAPTURE_IPV6 ? place->network + IPV6_BYTES : place->transport;
    bool is_extended = place->transport != header;
    if (place->family == 0) {
        return place->network;
    }
    if (place->is_fragment) {
        return place->transport;
    }
    return place->is_udp && !is_extended ? size_bytes : header;
}

bool address_map_replace_in_packet(struct address_map *map, struct edited_block *edited) {
    uint8_t *bytes = edited_block_data(edited);
    size_t size = edited->data->len, known = end_of_known(&edited->place, size);
    if (!replace_link(map, edited->packet.link_type, bytes, size)) {
        return false;
    }
    if (edited->place.family != 0) {
        replace_ip(map, &edited->place, bytes);
    }
    memset(bytes + known, 0, size - known);
    return true;
}
