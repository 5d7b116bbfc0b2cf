/* SPDX-License-Identifier: MIT */
/* The installed headers and libraries in a C++ program. */
#include <uerudp/codec.h>
#include <uerudp/endpoint.h>

int main() {
    return ue_profile_find("5.5") != nullptr ? 0 : 1;
}
