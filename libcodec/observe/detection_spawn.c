/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_spawn.h"

#include <string.h>

#include <uerudp/content.h>
#include "libcodec/observe/detection_evidence.h"

/* Lead in votes from which on no further spawn is decoded. */
#define LEAD_DECIDED 3
/* Lead from which on another generation is chosen, which the wire does not show either way, and another EngineNetVer
   than the lowest of the generation. */
#define LEAD_OF_GENERATION 1
#define LEAD_OF_NETVER 3
/* Most actors spawn when a connection begins: this many datagrams are decoded, then one in 16. */
#define DATAGRAMS_EAGER 1024
#define STEP 16
/* Votes of a form after which no further spawn is decoded either: the forms do not differ in this game's spawns. */
#define VOTES_MAX 64

/* The form of messages' content in some releases of a generation. */
struct spawn_form {
    uint8_t row, netver;
    bool is_first; /* of the generation */
};

struct spawn_pass {
    const struct ue_context *x;
    struct spawn_form forms[UE_DETECTION_FORMS_MAX];
    unsigned count;
    uint8_t *votes;
    bool is_opening; /* the latest bunch has exports of a message that opens an actor's channel */
    uint32_t channel;
};

/* EngineNetVers of generation 4.25, whose lowest is 14, that begin other forms of content (protocol.md 23.3).
   EngineNetVer 26 has the form of 18. */
#define NETVER_4_25 14
static const uint8_t netvers_of_4_25[] = {18, 22, 23};

static bool matches(const struct spawn_pass *pass, const struct spawn_form *form, const struct ue_bunch *bunch) {
    const struct ue_content content = {.kind = UE_CONTENT_ACTOR,
                                       .open = true,
                                       .close = bunch->close,
                                       .has_exports = bunch->has_exports,
                                       .has_mapped = bunch->has_mapped,
                                       .data = bunch->data};
    struct ue_context x = *pass->x;
    x.settings.netver = form->netver;
    return ue_content_spawn_fits(&x, &content);
}

/* Whether the bunch has the whole spawn of an actor: it opens a channel, or it is the last fragment of such a message
   and only exports precede it. */
static bool has_spawn(struct spawn_pass *pass, const struct ue_bunch *bunch) {
    bool opens = bunch->open && bunch->has_name && bunch->name.hardcoded && bunch->name.index == UE_NAME_ACTOR;
    bool follows = pass->is_opening && bunch->partial && !bunch->partial_initial && bunch->channel == pass->channel;
    pass->is_opening = bunch->partial && bunch->has_exports && (opens || follows);
    pass->channel = bunch->channel;
    bool is_whole = bunch->partial ? follows && bunch->partial_final && !bunch->has_exports : opens;
    return is_whole && bunch->data.bits != 0;
}

static void on_item(void *user, const struct ue_item *item) {
    struct spawn_pass *pass = user;
    if (item->is_ack || !has_spawn(pass, &item->bunch)) {
        return;
    }
    for (unsigned i = 0; i < pass->count; i++) {
        bool is_vote = pass->votes[i] < UINT8_MAX && matches(pass, &pass->forms[i], &item->bunch);
        pass->votes[i] = (uint8_t)(pass->votes[i] + is_vote);
    }
}

static bool have_same_format(unsigned row, unsigned other) {
    return ue_profile_same_wire((uint16_t)(1u << row | 1u << other));
}

/* The profiles with the packet format of this row, which is included. They are neighbours in the table, because no
   release returns to an earlier format. */
static uint16_t same_format_as(unsigned row) {
    uint16_t mask = (uint16_t)(1u << row);
    for (unsigned other = row; other > 0 && have_same_format(row, other - 1); other--) {
        mask |= (uint16_t)(1u << (other - 1));
    }
    for (unsigned other = row + 1; other < UE_PROFILE_COUNT && have_same_format(row, other); other++) {
        mask |= (uint16_t)(1u << other);
    }
    return mask;
}

/* Evaluated for each packet, so that profiles are compared only when the result has another one. */
static uint16_t same_format_as_result(struct ue_detection *detection) {
    if ((detection->spawn_profiles >> detection->result.profile & 1) == 0) {
        detection->spawn_profiles = same_format_as(detection->result.profile);
        memset(detection->spawn_votes, 0, sizeof detection->spawn_votes);
    }
    return detection->spawn_profiles;
}

static void add_form(struct spawn_pass *pass, unsigned row, uint16_t netver, bool is_first) {
    if (pass->count < UE_DETECTION_FORMS_MAX) {
        pass->forms[pass->count++] = (struct spawn_form){(uint8_t)row, (uint8_t)netver, is_first};
    }
}

/* The forms that the packets do not tell apart. */
static void list_forms(struct ue_detection *detection, struct spawn_pass *pass) {
    if (detection->is_given) {
        add_form(pass, detection->result.profile, detection->custom->netver, true);
    } else {
        for (unsigned rows = same_format_as_result(detection); rows != 0; rows &= rows - 1) {
            unsigned row = ue_profile_mask_oldest((uint16_t)rows);
            add_form(pass, row, ue_profile_at(row)->netver, true);
        }
    }
    if (pass->count == 1 && pass->forms[0].netver == NETVER_4_25) {
        for (size_t i = 0; i < sizeof netvers_of_4_25; i++) {
            add_form(pass, pass->forms[0].row, netvers_of_4_25[i], false);
        }
    }
}

/* The form with most votes, and by how many it leads. */
static unsigned find_leader(const struct ue_detection *detection, unsigned *lead) {
    unsigned best = 0, second = 0, leader = 0;
    for (unsigned i = 0; i < UE_DETECTION_FORMS_MAX; i++) {
        unsigned votes = detection->spawn_votes[i];
        leader = votes > best ? i : leader;
        second = votes > best ? best : votes > second ? votes : second;
        best = votes > best ? votes : best;
    }
    *lead = best - second;
    return leader;
}

static bool is_due(const struct ue_detection *detection, unsigned leader, unsigned lead) {
    return lead < LEAD_DECIDED && detection->spawn_votes[leader] < VOTES_MAX &&
           (detection->datagrams < DATAGRAMS_EAGER || detection->datagrams % STEP == 0);
}

static void choose(struct ue_detection *detection, const struct spawn_form *form, unsigned lead) {
    bool is_other_row = form->row != detection->result.profile ||
                        (detection->result.candidates & (detection->result.candidates - 1)) != 0;
    if (!detection->is_given && is_other_row && lead >= LEAD_OF_GENERATION) {
        ue_detection_choose(detection, form->row, detection->result.variant, (uint16_t)(1u << form->row),
                            UE_DETECTION_REASON_SPAWN);
    }
    if (lead >= LEAD_OF_NETVER) {
        detection->result.netver = form->is_first ? 0 : form->netver;
    }
}

void ue_detection_observe_spawns(struct ue_detection *detection, const struct ue_context *context, const uint8_t *bytes,
                                 size_t size_bytes) {
    bool is_open =
        detection->settings.netver == 0 && (detection->is_given || ue_profile_same_wire(detection->result.candidates));
    struct spawn_pass pass = {.x = context, .votes = detection->spawn_votes};
    if (!is_open) {
        return;
    }
    list_forms(detection, &pass);
    if (pass.count < 2) {
        return;
    }
    unsigned lead, leader = find_leader(detection, &lead);
    if (is_due(detection, leader, lead)) {
        const struct ue_visitor visitor = {.item = on_item, .user = &pass};
        struct ue_decode_result result;
        ue_datagram_decode(context, bytes, size_bytes, NULL, &visitor, &result);
        leader = find_leader(detection, &lead);
    }
    if (lead != 0) {
        choose(detection, &pass.forms[leader], lead);
    }
}
