/* SPDX-License-Identifier: MIT */
#include <uerudp/codec.h>

#include <stdio.h>

int main(void) {
    puts(ue_status_text(UE_OK));
    return 0;
}
