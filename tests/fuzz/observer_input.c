/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/observer_input.h"

#include <string.h>

#define OPERATION_BYTES 4
#define MEMORY_STEP_BYTES 1024
#define PORT 7777

static bool flag(uint8_t byte, unsigned bit) {
    return (byte >> bit & 1) != 0;
}

struct observer_input_options observer_input_init(struct observer_input *input, const uint8_t *data,
                                                  size_t size_bytes) {
    *input = (struct observer_input){data, size_bytes, OBSERVER_INPUT_HEAD_BYTES};
    return (struct observer_input_options){
        .order = (enum ue_observer_order)(data[0] & 3),
        .is_reread = flag(data[0], 2),
        .is_referenced = flag(data[0], 3),
        .has_choose = flag(data[0], 4),
        .has_decryption = flag(data[0], 5),
        .has_messages = flag(data[0], 6),
        .has_items = flag(data[0], 7),
        .settings = {.magic_bits = data[1] & 31, .skip_bytes = flag(data[1], 5) ? 8 : 0},
        .server_side = flag(data[1], 7) ? flag(data[1], 6) : -1,
        .memory_bytes = data[2] != 0 ? (size_t)data[2] * MEMORY_STEP_BYTES : SIZE_MAX,
        .connections_max = data[3],
        .pending_max = data[4],
        .gathered_max = data[5] / UE_PROFILE_COUNT,
        .generation = ue_profile_at(data[5] % UE_PROFILE_COUNT),
    };
}

/* ---- operations ---- */

/* Eight clients and two servers, in networks of four sizes of address. */
static struct ue_address address_of(uint8_t choice, bool is_server) {
    static const uint8_t sizes[] = {4, 16, 6, 0};
    unsigned host = is_server ? 100u + flag(choice, 5) : choice & 7u;
    struct ue_address address = {.size_bytes = sizes[choice >> 3 & 3], .port = (uint16_t)(PORT + (host & 1))};
    if (address.size_bytes != 0) {
        address.bytes[address.size_bytes - 1u] = (uint8_t)host;
    } else {
        address.port = (uint16_t)host;
    }
    return address;
}

bool observer_input_next(struct observer_input *input, struct observer_input_operation *operation) {
    if (input->read_bytes + OPERATION_BYTES > input->size_bytes) {
        return false;
    }
    const uint8_t *head = input->data + input->read_bytes;
    bool from_server = flag(head[1], 6);
    input->read_bytes += OPERATION_BYTES;
    *operation = (struct observer_input_operation){.kind = (enum observer_input_kind)(head[0] % OBSERVER_INPUT_KINDS),
                                                   .is_ours = !flag(head[0], 4),
                                                   .is_cut = flag(head[0], 5),
                                                   .is_late = flag(head[0], 6),
                                                   .source = address_of(head[1], from_server),
                                                   .destination = address_of(head[1], !from_server),
                                                   .number = (uint16_t)(head[2] | head[3] << 8),
                                                   .bytes = head + OPERATION_BYTES};
    if (operation->kind == OBSERVER_INPUT_DATAGRAM) {
        size_t left = input->size_bytes - input->read_bytes;
        operation->size_bytes = operation->number < left ? operation->number : left;
        input->read_bytes += operation->size_bytes;
    }
    return true;
}

/* ---- handshakes ---- */

/* The number has type, cookie and original cookie in three bits each. */
size_t observer_input_handshake(const struct observer_input_options *options, uint16_t number,
                                uint8_t bytes[OBSERVER_INPUT_HANDSHAKE_BYTES]) {
    static const uint8_t random[16] = {5, 6, 7};
    struct ue_datagram datagram = {.prefix.is_handshake = true};
    struct ue_handshake *handshake = &datagram.handshake;
    struct ue_context context;
    struct ue_fault fault;
    size_t size_bytes;
    ue_context_init(&context, options->generation, &options->settings);
    handshake->type = (enum ue_handshake_type)((number & 7) % UE_HANDSHAKE_VERSION_UPGRADE);
    context.direction = ue_handshake_sender(handshake->type);
    handshake->restart = handshake->type >= UE_HANDSHAKE_RESTART_REQUEST;
    handshake->has_body = handshake->type != UE_HANDSHAKE_RESTART_REQUEST;
    if (handshake->has_body && handshake->type != UE_HANDSHAKE_INITIAL) {
        memset(handshake->cookie, 1 + (number >> 3 & 7), sizeof handshake->cookie);
        handshake->timestamp = ue_handshake_timestamp_bits(&context, 5);
    }
    handshake->has_orig_cookie = handshake->type == UE_HANDSHAKE_RESTART_RESPONSE;
    if (handshake->has_orig_cookie) {
        memset(handshake->orig_cookie, 1 + (number >> 6 & 7), sizeof handshake->orig_cookie);
    }
    if (options->generation->handshake == UE_HANDSHAKE_V) {
        handshake->min_version = 3;
        handshake->version = options->generation->features ? 4 : 3;
        handshake->random = (struct ue_view){random, 0, 96};
    }
    bool is_encoded =
        ue_datagram_encode(&context, &datagram, bytes, OBSERVER_INPUT_HANDSHAKE_BYTES, &size_bytes, &fault) == UE_OK;
    return is_encoded ? size_bytes : 0;
}
