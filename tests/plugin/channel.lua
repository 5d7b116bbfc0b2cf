-- SPDX-License-Identifier: MIT
-- A dissector of another plugin for actor channels: shows the size and the first byte of a payload.
local actor = Proto("testactor", "Test actor")
local size = ProtoField.uint32("testactor.size", "Size")
local first = ProtoField.uint8("testactor.first", "First byte", base.HEX)
actor.fields = {size, first}

function actor.dissector(buffer, pinfo, tree)
    local item = tree:add(actor, buffer())
    item:add(size, buffer:len())
    item:add(first, buffer(0, 1))
end

DissectorTable.get("uerudp.channel"):add("Actor", actor)
