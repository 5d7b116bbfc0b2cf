/* SPDX-License-Identifier: MIT */
/* Laws L1 and L2 for each wire structure of a datagram. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/codec/arbitrary_message.h"
#include "tests/codec/laws.h"
#include "tests/support/equal.h"
#include "libcodec/wire/bunch.h"
#include "libcodec/wire/handlers.h"
#include "libcodec/wire/handshake.h"
#include "libcodec/wire/message.h"
#include "libcodec/wire/packet_layout.h"
#include "libcodec/wire/prefix_layout.h"

PART(prefix, struct ue_prefix, arbitrary_prefix, ue_prefix_run, prefix_equal, false, false)
PART(handshake, struct ue_handshake, arbitrary_handshake, ue_handshake_run, handshake_equal, true, false)
#define SAME_HANDLERS(a, b) handlers_equal(x, (a), (b))
PART(handlers, struct ue_handlers, arbitrary_handlers, ue_handlers_run, SAME_HANDLERS, true, true)
PART(packet, struct ue_packet, arbitrary_packet, ue_packet_run, packet_equal, false, false)
PART(ack, struct ue_ack, arbitrary_ack, ue_ack_run, ack_equal, false, false)
PART(bunch, struct ue_bunch, arbitrary_bunch, ue_bunch_run, bunch_equal, false, false)
PART(message, struct ue_message, arbitrary_message, ue_message_run, message_equal, true, false)

#define LAWS(name)                                                                                                     \
    LAW(name, L1, LAWS_ROUNDS)                                                                                         \
    LAW(name, L2, LAWS_ROUNDS)

LAWS(prefix)
LAWS(handshake)
LAWS(handlers)
LAWS(packet)
LAWS(ack)
LAWS(bunch)
LAWS(message)

#define BOTH(name) cmocka_unit_test(name##_L1), cmocka_unit_test(name##_L2)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(prefix), BOTH(handshake), BOTH(handlers), BOTH(packet), BOTH(ack), BOTH(bunch), BOTH(message),
    };
    return cmocka_run_group_tests(tests, laws_set_up, laws_tear_down);
}
