-- SPDX-License-Identifier: MIT
-- The same fields as the plugin's for the packets of the benchmark, in the way of the usual user script: bit by bit.
local p = Proto("uelua", "Unreal Engine in Lua")
local f = p.fields

local function field(kind, key)
    f[key] = ProtoField[kind]("uelua." .. key, key)
end

for _, key in ipairs({"is_handshake", "has_info", "has_frame_time", "control", "open", "close", "paused", "reliable",
                      "has_exports", "has_mapped", "partial", "partial_initial", "partial_final", "name_hardcoded"}) do
    field("bool", key)
end
for _, key in ipairs({"session_id", "client_id", "history_words", "ack", "seq", "history", "jitter_ms", "frame_time_ms",
                      "close_reason", "channel", "ch_seq", "name_index", "data_bits"}) do
    field("uint32", key)
end

local SERVER_PORT = 7777
local band, rshift, floor, ceil = bit.band, bit.rshift, math.floor, math.ceil
local buffer, bytes, get, position, limit

local function bit_at(at)
    return band(rshift(get(bytes, floor(at / 8)), at % 8), 1)
end

local function read_bits(count)
    local value, scale = 0, 1
    for at = position, position + count - 1 do
        value = value + bit_at(at) * scale
        scale = scale * 2
    end
    position = position + count
    return value
end

local function read_below(max)
    local value, mask = 0, 1
    while value + mask < max do
        value = value + read_bits(1) * mask
        mask = mask * 2
    end
    return value
end

local function read_packed()
    local value, scale, more = 0, 1, 1
    while more == 1 do
        more = read_bits(1)
        value = value + read_bits(7) * scale
        scale = scale * 128
    end
    return value
end

-- Adds what reader gives over the bytes that it came from.
local function add(tree, key, reader, argument)
    local first = floor(position / 8)
    local value = reader(argument)
    tree:add(f[key], buffer(first, ceil(position / 8) - first), value)
    return value
end

local function flag(tree, key)
    local byte = buffer(floor(position / 8), 1)
    local value = read_bits(1) == 1
    tree:add(f[key], byte, value)
    return value
end

local function find_end()
    limit = buffer:len() * 8
    for _ = 1, 2 do
        limit = limit - 1
        while bit_at(limit) == 0 do
            limit = limit - 1
        end
    end
end

local function read_bunch(tree)
    local open, close = false, false
    if flag(tree, "control") then
        open, close = flag(tree, "open"), flag(tree, "close")
    end
    if close then
        add(tree, "close_reason", read_below, 15)
    end
    flag(tree, "paused")
    local reliable = flag(tree, "reliable")
    add(tree, "channel", read_packed)
    flag(tree, "has_exports")
    flag(tree, "has_mapped")
    local partial = flag(tree, "partial")
    if reliable then
        add(tree, "ch_seq", read_below, 1024)
    end
    if partial then
        flag(tree, "partial_initial")
        flag(tree, "partial_final")
    end
    if reliable or open then
        flag(tree, "name_hardcoded")
        add(tree, "name_index", read_packed)
    end
    local bits = add(tree, "data_bits", read_below, 8192)
    position = position + bits
end

local function read_header(tree, from_server)
    local words = read_bits(4) + 1
    tree:add(f.history_words, words)
    add(tree, "ack", read_bits, 14)
    add(tree, "seq", read_bits, 14)
    for _ = 1, words do
        add(tree, "history", read_bits, 32)
    end
    if flag(tree, "has_info") then
        add(tree, "jitter_ms", read_bits, 10)
        if flag(tree, "has_frame_time") and from_server then
            add(tree, "frame_time_ms", read_bits, 8)
        end
    end
end

function p.dissector(tvb, pinfo, root)
    buffer, bytes, position = tvb, tvb:bytes(), 0
    get = bytes.get_index
    pinfo.cols.protocol = "UELUA"
    local tree = root:add(p, tvb())
    find_end()
    add(tree, "session_id", read_bits, 2)
    add(tree, "client_id", read_bits, 3)
    if flag(tree, "is_handshake") then
        return tvb:len()
    end
    read_header(tree, pinfo.src_port == SERVER_PORT)
    while position < limit do
        read_bunch(tree:add(p, tvb(), "Bunch"))
    end
    return tvb:len()
end

DissectorTable.get("udp.port"):add_for_decode_as(p)
