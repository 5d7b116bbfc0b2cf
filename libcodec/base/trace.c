/* SPDX-License-Identifier: MIT */
#include <uerudp/trace.h>

double ue_record_real(const struct ue_record *record) {
    if (record->bits == 32 && !record->coded) {
        uint32_t raw = (uint32_t)record->number;
        float value;
        memcpy(&value, &raw, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &record->number, sizeof value);
    return value;
}
