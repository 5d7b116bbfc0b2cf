/* SPDX-License-Identifier: MIT */
/* A login as its server and its tests see it; endpoint.h has what the program sees. */
#ifndef UERUDP_TOOLS_ENDPOINT_LOGIN_LOGIN_H
#define UERUDP_TOOLS_ENDPOINT_LOGIN_LOGIN_H

#include <uerudp/endpoint.h>

struct ue_login {
    struct ue_login_config config;
    struct ue_conn *conn;
    struct ue_login_status status;
    uint64_t welcomed_ns;
    bool has_received;     /* server: the first message was handled */
    bool has_close_reason; /* only the first one counts */
};

/* As ue_login_new, in the caller's memory, which must not move. Fails as ue_login_check does. */
enum ue_status ue_login_init(struct ue_login *l, struct ue_conn *c, const struct ue_login_config *config);

#endif
