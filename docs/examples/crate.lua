-- SPDX-License-Identifier: MIT
-- Example of a dissector for one game. uerudp finds the payload of each replicated class; only the game knows its
-- format. Copy this file, replace the class paths and fields by those of the game, and load it
--
--   once:    tshark -X lua_script:crate.lua -V -r game.pcapng    (wireshark takes -X, too)
--   always:  from the personal Lua folder, which "tshark -G folders" names
--
-- The class path of a sub-object is shown as uerudp.block.class_path. A block about the actor itself has the class of the
-- actor's archetype: "/Game/Actors/Crate.Crate_C" for "/Game/Actors/Crate.Default__Crate_C". Actors of the map have no
-- class on the wire: use their own path.
--
-- The buffer begins with the first bit of the payload; its last byte is padded with zero bits. The first bit of a byte is
-- its least significant one.
local crate = Proto("crate", "Crate of the example game")
local size = ProtoField.uint32("crate.size", "Bytes of the payload")
local first = ProtoField.uint32("crate.first", "First property, where the block has properties")
crate.fields = {size, first}

local paths = {"/Game/Actors/Crate.Crate_C", "/Game/Actors/Label.Label_C"}

-- The number in `count` bits from bit `from` on, least significant bit first.
local function bits(buffer, from, count)
    local value = 0
    for at = from + count - 1, from, -1 do
        local byte = buffer(math.floor(at / 8), 1):uint()
        value = value * 2 + math.floor(byte / 2 ^ (at % 8)) % 2
    end
    return value
end

-- SerializeIntPacked: each byte holds a bit that shows whether another byte follows, and seven bits of the number. nil:
-- the buffer ends before the number.
local function packed(buffer, from)
    local value, factor = 0, 1
    for at = from, from + 32, 8 do
        if at + 8 > buffer:len() * 8 then
            return nil
        end
        local group = bits(buffer, at, 8)
        value = value + math.floor(group / 2) * factor
        factor = factor * 128
        if group % 2 == 0 then
            return value
        end
    end
end

function crate.dissector(buffer, pinfo, tree)
    local item = tree:add(crate, buffer())
    item:add(size, buffer:len())
    local handle = packed(buffer, 1) -- after bDoChecksum
    if handle ~= nil then
        item:add(first, handle)
    end
end

for _, path in ipairs(paths) do
    DissectorTable.get("uerudp.class"):add(path, crate)
end
