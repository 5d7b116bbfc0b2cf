-- SPDX-License-Identifier: MIT
-- A game's own dissector, as an example: the wire tells where the payload of a class begins and ends, and only the game
-- knows what is in it. Copy it, put in the class paths and fields of the game, and load it
--
--   once:    tshark -X lua_script:crate.lua -V -r game.pcapng    (wireshark takes -X, too)
--   always:  from the personal Lua folder, which "tshark -G folders" names
--
-- Class paths are those that uerudp.block.class_path shows; of blocks about the actor itself, that of the class which
-- its archetype is of: "/Game/Actors/Crate.Crate_C" for "/Game/Actors/Crate.Default__Crate_C". Actors of the map have no
-- class on the wire, and are known by their own paths.
--
-- The buffer begins with the first bit of the payload, and its last byte is filled with zeros. Bits count from the least
-- significant one of each byte on.
local crate = Proto("crate", "Crate of the example game")
local size = ProtoField.uint32("crate.size", "Bytes of the payload")
local first = ProtoField.uint32("crate.first", "First property, where the block has properties")
crate.fields = {size, first}

local paths = {"/Game/Actors/Crate.Crate_C", "/Game/Actors/Label.Label_C"}

-- count bits from this one on, the first the least significant.
local function bits(buffer, from, count)
    local value = 0
    for at = from + count - 1, from, -1 do
        local byte = buffer(math.floor(at / 8), 1):uint()
        value = value * 2 + math.floor(byte / 2 ^ (at % 8)) % 2
    end
    return value
end

-- SerializeIntPacked: bytes of seven bits, and one that tells whether more follow; nil: the buffer ends before.
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
    local handle = packed(buffer, 1) -- behind bDoChecksum
    if handle ~= nil then
        item:add(first, handle)
    end
end

for _, path in ipairs(paths) do
    DissectorTable.get("uerudp.class"):add(path, crate)
end
