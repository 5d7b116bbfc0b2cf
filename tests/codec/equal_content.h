/* SPDX-License-Identifier: MIT */
/* Comparison of structures inside messages; members that are not used are not compared. */
#ifndef UERUDP_TESTS_CODEC_EQUAL_CONTENT_H
#define UERUDP_TESTS_CODEC_EQUAL_CONTENT_H

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/class_layout.h>
#include <uerudp/exports.h>
#include <uerudp/voice.h>

bool object_equal(const struct ue_object *a, const struct ue_object *b);
bool exports_equal(const struct ue_exports *a, const struct ue_exports *b);
bool field_export_equal(const struct ue_field_export *a, const struct ue_field_export *b);
bool mapped_equal(const struct ue_mapped *a, const struct ue_mapped *b);
bool actor_spawn_equal(const struct ue_context *x, const struct ue_actor_spawn *a, const struct ue_actor_spawn *b);
bool block_equal(const struct ue_context *x, const struct ue_block *a, const struct ue_block *b);
bool property_equal(const struct ue_property *a, const struct ue_property *b);
bool call_equal(const struct ue_call *a, const struct ue_call *b);
bool live_property_equal(const struct ue_live_property *a, const struct ue_live_property *b);
bool parameter_equal(const struct ue_parameter *a, const struct ue_parameter *b);
bool voice_equal(const struct ue_voice *a, const struct ue_voice *b);

#endif
