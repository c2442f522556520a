-- Copyright (c) The ipu.pod authors
-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What a job may ask of the pod's IPUs: refused in one sentence, or written down where only Slurm and its
-- administrators can write, as licences and in AdminComment. Settings are in ipu-pod.lua beside this file; the site's
-- own functions, if it has any, in job_submit.site.lua: they come first, and are read when this file is. Lua 5.1.

local FOLDER = debug.getinfo(1, "S").source:match("^@(.*/)")
local LICENCE, GRES = "ipu", "vipu"
local NOTE = "ipu.pod"
local OPTION = "^_SLURM_SPANK_OPTION_ipu_([%w_]+)=(.*)$"
-- What an IPU job has been checked for, so that it stays as it is.
local CHECKED_NUMBERS = {"num_tasks", "min_nodes", "max_nodes", "ntasks_per_node", "shared"}
-- Where a job can ask for what Slurm counts; --gres is "tres_per_node".
local COUNTED = {"licenses", "tres_per_node", "tres_per_job", "tres_per_socket", "tres_per_task"}
local UNSET = {[slurm.NO_VAL] = true, [slurm.NO_VAL16] = true}
-- How a job's Slurm partitions lie to those with IPUs.
local ALL, SOME, NONE = "all", "some", "none"
-- Where being in such a Slurm partition makes a job an IPU job.
local BY_PARTITION = {mapping = true, reconfigurable = true}

local function exists(path)
   local file = io.open(path)
   return file ~= nil and file:close()
end

if exists(FOLDER .. "job_submit.site.lua") then
   dofile(FOLDER .. "job_submit.site.lua")
end
local site_submit, site_modify = slurm_job_submit, slurm_job_modify

-- A sentence for the user ends the examination of a job from wherever it is found.
local function refuse(...)
   error({sentence = string.format(...)})
end

local function examined(examine, code, ...)
   local done, problem = pcall(examine, ...)
   if done then
      return slurm.SUCCESS
   end
   if type(problem) ~= "table" then
      slurm.log_error("ipu.pod: %s", problem)
      problem = {sentence = "the examination of IPU jobs failed; tell your administrator, slurmctld's log has why"}
   end
   slurm.log_user("%s", problem.sentence)
   return code
end

local function words(text, pattern)
   local found = {}
   for word in (text or ""):gmatch(pattern) do
      table.insert(found, word)
   end
   return found
end

local function contains(list, wanted)
   for _i, item in ipairs(list) do
      if item == wanted then
         return true
      end
   end
   return false
end

local function joined(list)
   return table.concat(list, ", ")
end

local function begins_with(text, prefix)
   return (text or ""):sub(1, #prefix) == prefix
end

-- A number that the user gave, or nil.
local function given(number)
   return not UNSET[number] and number or nil
end

-- An entry's name and the rest. Slurm ends a name with ":" or "*", from 23.11 also with "=", later with "(".
local function name_and_rest(entry)
   return entry:match("^%s*([^:=*@(%s]*)(.*)$")
end

-- An entry without the kind of resource that may stand before its name, such as "gres:" or "license/".
local function without_kind(entry, kind)
   local found, rest = entry:match("^%s*(%a+)[:/](.*)$")
   return found and found:lower() == kind and rest or nil
end

-- Whether a field of a job asks for our licence: in all but "licenses" its kind stands before it.
local function names_our_licence(field, request)
   for _i, entry in ipairs(words(request, "[^,;|]+")) do
      if name_and_rest(without_kind(entry, "license") or field == "licenses" and entry or "") == LICENCE then
         return true
      end
   end
   return false
end

-- The entries of a GRES request: ours without "gres:vipu", such as ":4:1", and all others as they are.
local function gres_of(request)
   local ours, others = {}, {}
   for _i, entry in ipairs(words(request, "[^,]+")) do
      local name, rest = name_and_rest(without_kind(entry, "gres") or entry)
      if name == GRES then
         table.insert(ours, (rest:gsub("=", ":")))
      else
         table.insert(others, entry)
      end
   end
   return ours, others
end

-- The options of our SPANK plugin. Whoever forges them asks for what is counted, like everybody.
local function options_of(job)
   local options = {}
   for i = 0, (job.spank_job_env_size or 0) - 1 do
      local name, value = (job.spank_job_env[i] or ""):match(OPTION)
      if name then
         local number = tonumber(value:match("^%d%d?%d?%d?%d?%d?$"))
         if not number or number < 1 then
            refuse("--%s=%s is no positive number", name:gsub("_", "-"), value)
         end
         options[name] = number
      end
   end
   if options.num_replicas and not options.ipus then
      refuse("--num-replicas needs --ipus=N; add it")
   end
   return options
end

-- How many of a job's Slurm partitions have IPUs.
local function place_of(settings, partition, partitions)
   local ours, names, inside = settings.slurm_partitions, words(partition, "[^,]+"), 0
   if #ours == 0 then
      return ALL
   end
   if #names == 0 then
      for name, each in pairs(partitions) do
         if each.flag_default == 1 then
            table.insert(names, name)
         end
      end
   end
   for _i, name in ipairs(names) do
      inside = inside + (contains(ours, name) and 1 or 0)
   end
   return inside == 0 and NONE or inside == #names and ALL or SOME
end

local function needs_our_partition(settings, place)
   if place ~= ALL then
      local names = table.concat(settings.slurm_partitions, " or ")
      refuse("jobs with IPUs run in Slurm partition %s and in no other; use -p %s", names, settings.slurm_partitions[1])
   end
end

-- Give a job exactly so many nodes, if it leaves that open or asks for so many. Returns whether it does.
local function fit_nodes(job, nodes)
   local least, most = given(job.min_nodes), given(job.max_nodes)
   local fits = nodes >= (least or nodes) and nodes <= (most or nodes)
   if fits then
      job.min_nodes, job.max_nodes = nodes, nodes
   end
   return fits
end

local function tasks_wanted(job)
   return given(job.num_tasks) or math.max(1, given(job.min_nodes) or 1) * (given(job.ntasks_per_node) or 1)
end

-- What can stand in a shape, "ipus/gcds" or "ipus/gcds/replicas", behind what it begins with, in order.
local function choices(shapes, before)
   local seen, found = {}, {}
   for shape in pairs(shapes) do
      local number = begins_with(shape, before) and tonumber(shape:sub(#before + 1):match("^%d+"))
      if number and not seen[number] then
         seen[number] = true
         table.insert(found, number)
      end
   end
   table.sort(found)
   return found
end

-- How a partition of so many IPUs is divided: into a GCD for each task, and replicas if asked for. The note's words.
local function shape_of(settings, job, ipus, replicas)
   local sizes = choices(settings.shapes, "")
   if not contains(sizes, ipus) then
      refuse("--ipus=%d: there is no partition of %d IPUs here; use one of %s", ipus, ipus, joined(sizes))
   end
   local gcds = tasks_wanted(job)
   local splits = choices(settings.shapes, ipus .. "/")
   if not contains(splits, gcds) then
      refuse("--ipus=%d for %d tasks: each task has a GCD of its own, and a partition of %d IPUs can have %s GCDs; "
             .. "use one of these with -n", ipus, gcds, ipus, joined(splits))
   end
   local shape = string.format(" ipus=%d gcds=%d", ipus, gcds)
   if not replicas then
      return shape
   end
   local parts = choices(settings.shapes, ipus .. "/" .. gcds .. "/")
   if not contains(parts, replicas) then
      refuse("--num-replicas=%d: %d IPUs in %d GCDs can have %s replicas; use one of these, or leave it out",
             replicas, ipus, gcds, joined(parts))
   end
   return shape .. " replicas=" .. replicas
end

local function add_licences(job, ipus)
   local there = job.licenses or ""
   if there:find("|", 1, true) then
      refuse("-L %s: IPUs cannot be added to licences of which one is enough; name the one that the job takes", there)
   end
   job.licenses = there .. (there == "" and "" or ",") .. LICENCE .. ":" .. ipus
end

local function refuse_gres(job)
   if #gres_of(job.tres_per_node) > 0 then
      refuse("--gres=%s does not exist here; leave it out, and ask for IPUs with --ipus=N", GRES)
   end
end

-- Take the model, --gres=vipu:TYPE, out of the request: all IPUs here are of it, and no node needs to have it.
local function take_model_out(settings, job, ipus)
   if #settings.gres_types == 0 then
      refuse_gres(job)
   end
   local ours, others = gres_of(job.tres_per_node)
   for _i, rest in ipairs(ours) do
      if not contains(settings.gres_types, rest:match("^:([^:]+)")) then
         refuse("--gres=%s%s: that model does not exist here; leave it out, or use one of %s",
                GRES, rest, joined(settings.gres_types))
      elseif not ipus then
         refuse("--gres=%s%s names a model, not how many IPUs; add --ipus=N", GRES, rest)
      end
   end
   if #ours > 0 then
      job.tres_per_node = table.concat(others, ",")
   end
end

-- For each way: what an IPU job is given, as the note's words; nil if a job is none.
local ways = {}

function ways.dynamic(settings, job, place)
   local options = options_of(job)
   take_model_out(settings, job, options.ipus)
   if not options.ipus then
      return nil
   end
   needs_our_partition(settings, place)
   add_licences(job, options.ipus)
   return shape_of(settings, job, options.ipus, options.num_replicas)
end

-- How many nodes a job gets that does not say how many IPUs: the fewest that it asks for and can have together.
local function nodes_of_block(settings, job)
   local numbers = choices(settings.blocks, "")
   for _i, nodes in ipairs(numbers) do
      if fit_nodes(job, nodes) then
         return nodes
      end
   end
   refuse("a job cannot have the IPUs of %d nodes: V-IPU has no block of so many; use one of %s with -N",
          job.min_nodes, joined(numbers))
end

-- Have a job's nodes be those of one block, whichever of them is free.
local function ask_for_block(settings, job, nodes)
   local block, asked = settings.blocks[tostring(nodes)], job.features or ""
   if block == "" then
      return
   elseif asked:match("[%[%(%*]") then
      refuse("-C %s cannot be joined with the nodes' IPU-Machines being neighbours; write it with & or | alone", asked)
   elseif (job.req_nodes or ""):match("[,%[]") then
      refuse("-w %s: the nodes of a job are neighbours; name one of them, and Slurm finds the others", job.req_nodes)
   end
   job.features = asked == "" and block or block .. "&(" .. asked .. ")"
end

function ways.mapping(settings, job, place)
   local ipus, per_node = options_of(job).ipus, settings.per_node
   refuse_gres(job)
   if place == NONE and not ipus then
      return nil
   end
   needs_our_partition(settings, place)
   job.shared = 0
   if not ipus then
      ask_for_block(settings, job, nodes_of_block(settings, job))
      return ""
   end
   local nodes = ipus / per_node
   if not settings.blocks[tostring(nodes)] then
      refuse("--ipus=%d: a job has the %d IPUs of each of its nodes, and %s nodes can be had together; use %d for each",
             ipus, per_node, joined(choices(settings.blocks, "")), per_node)
   elseif not fit_nodes(job, nodes) then
      refuse("--ipus=%d: a job has the %d IPUs of each of its nodes, so these are %d nodes; use -N %d, or leave it out",
             ipus, per_node, nodes, nodes)
   end
   ask_for_block(settings, job, nodes)
   add_licences(job, ipus)
   return shape_of(settings, job, ipus, options_of(job).num_replicas)
end

function ways.reconfigurable(settings, job, place)
   local asked = options_of(job).ipus
   local ipus = asked or settings.default_ipus
   refuse_gres(job)
   if place == NONE and not asked then
      return nil
   end
   needs_our_partition(settings, place)
   if ipus > settings.ipus then
      refuse("--ipus=%d: all jobs share a partition of %d IPUs; use at most %d", ipus, settings.ipus, settings.ipus)
   elseif not fit_nodes(job, 1) then
      refuse("a job on %d nodes cannot have IPUs here: a reconfigurable partition has one GCD, on one Poplar server; "
             .. "use -N 1", job.min_nodes)
   end
   add_licences(job, ipus)
   return " ipus=" .. ipus
end

-- How many nodes the partitions have that an entry of --gres=vipu asks for; nil if it asks for none.
local function nodes_of_entry(settings, rest)
   local size, count = rest:match("^:([^:]+):(%d+)$")
   local declared = settings.sizes[size]
   if rest:match("^:%d+$") then
      refuse("--gres=%s%s is for Slurm a number of partitions of any size; write --gres=%s%s:1 for one of %s IPUs",
             GRES, rest, GRES, rest, rest:sub(2))
   elseif not size then
      refuse("--gres=%s%s does not say how many partitions of which size; write --gres=%s:IPUS:1", GRES, rest, GRES)
   elseif not declared then
      refuse("--gres=%s%s: there is no partition of %s IPUs here; use one of %s",
             GRES, rest, size, joined(choices(settings.sizes, "")))
   elseif tonumber(count) > 1 and declared.nodes > 1 then
      refuse("--gres=%s%s: a partition of %s IPUs has %d nodes, and a job can have one such; write --gres=%s:%s:1",
             GRES, rest, size, declared.nodes, GRES, size)
   end
   return tonumber(count) > 0 and declared.nodes or nil
end

function ways.static(settings, job, place)
   local asked, several = {}, nil
   for _i, rest in ipairs(gres_of(job.tres_per_node)) do
      local nodes = nodes_of_entry(settings, rest)
      table.insert(asked, nodes)
      several = nodes and nodes > 1 and nodes or several
   end
   if #asked == 0 then
      return nil
   end
   needs_our_partition(settings, place)
   if several and #asked > 1 then
      refuse("--gres=%s: a partition of several nodes is the only one of its job; ask for one size", GRES)
   elseif several and not fit_nodes(job, several) then
      refuse("--gres=%s: the GCDs of this partition are on %d nodes; use -N %d, or leave it out",
             GRES, several, several)
   end
   return ""
end

-- IPUs that would be counted without what we check.
local function refuse_what_is_not_ours_to_count(settings, job)
   local how = settings.way == "static" and "--gres=" .. GRES .. ":IPUS:1" or "--ipus=N"
   if names_our_licence("licenses", job.licenses) then
      refuse("licence %s is not for -L; ask for IPUs with %s", LICENCE, how)
   end
   for _i, field in ipairs(COUNTED) do
      if names_our_licence(field, job[field]) or field ~= "tres_per_node" and #gres_of(job[field]) > 0 then
         refuse("--%s=%s: IPUs are not asked for with this; use %s", (field:gsub("_", "-")), job[field], how)
      end
   end
end

local function examine_new(job, partitions)
   local settings = dofile(FOLDER .. "ipu-pod.lua")
   if begins_with(job.admin_comment, NOTE) then
      job.admin_comment = ""
   end
   refuse_what_is_not_ours_to_count(settings, job)
   local note = ways[settings.way](settings, job, place_of(settings, job.partition, partitions))
   if note and given(job.het_job_offset) then
      refuse("the parts of a heterogeneous job cannot have IPUs; submit them as jobs of their own")
   end
   if note then
      job.admin_comment = NOTE .. note
   end
end

local function slurm_user()
   for line in io.lines("/proc/self/status") do
      local uid = line:match("^Uid:%s+(%d+)")
      if uid then
         return tonumber(uid)
      end
   end
end

local function examine_change(change, job, partitions, uid)
   if uid == 0 or uid == slurm_user() then
      return
   end
   local settings = dofile(FOLDER .. "ipu-pod.lua")
   local is_ours = begins_with(job.admin_comment, NOTE)
   local changes = is_ours and settings.way == "mapping" and (change.features or change.req_nodes)
   for _i, field in ipairs(COUNTED) do
      local asked = change[field]
      -- Emptied is changed, too.
      changes = changes or asked and (is_ours or names_our_licence(field, asked) or #gres_of(asked) > 0)
   end
   for _i, field in ipairs(CHECKED_NUMBERS) do
      changes = changes or is_ours and given(change[field])
   end
   if change.partition and (is_ours or BY_PARTITION[settings.way]) then
      changes = changes or place_of(settings, change.partition, partitions) ~= (is_ours and ALL or NONE)
   end
   if changes then
      refuse("what a job has of the IPUs cannot be changed; cancel it and submit it anew")
   end
end

function slurm_job_submit(job, partitions, uid)
   local code = site_submit and site_submit(job, partitions, uid) or slurm.SUCCESS
   return code == slurm.SUCCESS and examined(examine_new, slurm.ERROR, job, partitions) or code
end

function slurm_job_modify(change, job, partitions, uid)
   local code = site_modify and site_modify(change, job, partitions, uid) or slurm.SUCCESS
   if code == slurm.SUCCESS then
      -- scontrol shows no sentence, only what this code means: permission denied.
      code = examined(examine_change, slurm.ESLURM_ACCESS_DENIED, change, job, partitions, uid)
   end
   return code
end

return slurm.SUCCESS
