-- Copyright (c) The ipu.pod authors
-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Makes `srun --ipus=N --gres=vipu:TYPE` work where no node has the GRES vipu: job_submit.lua takes the model out of a
-- job's request, but not out of what srun asks for its step. The site's own functions, if it has any, are in
-- cli_filter.site.lua; they come first. Lua 5.1.

local FOLDER = debug.getinfo(1, "S").source:match("^@(.*/)")
local MODEL = "^vipu:([^:]+)"

local function exists(path)
   local file = io.open(path)
   return file ~= nil and file:close()
end

if exists(FOLDER .. "cli_filter.site.lua") then
   dofile(FOLDER .. "cli_filter.site.lua")
end
local site_defaults, site_before, site_after = slurm_cli_setup_defaults, slurm_cli_pre_submit, slurm_cli_post_submit

-- A GRES request without the models that there are; "none" if nothing is left.
local function without_models(request, models)
   local others = {}
   for entry in request:gmatch("[^,]+") do
      local model = entry:gsub("^gres:", ""):match(MODEL)
      if not model or not models[model] then
         table.insert(others, entry)
      end
   end
   return #others > 0 and table.concat(others, ",") or "none"
end

-- Whether it is for a job with IPUs; a job that there is already has been examined.
local function has_ipus(options)
   return os.getenv("SLURM_JOB_ID") or options.spank and options.spank.ipu and options.spank.ipu.ipus
end

local function take_models_out(options)
   local models = {}
   for _i, model in ipairs(dofile(FOLDER .. "ipu-pod.lua").gres_types) do
      models[model] = true
   end
   options.gres = without_models(options.gres, models)
end

function slurm_cli_setup_defaults(options, early)
   return site_defaults and site_defaults(options, early) or slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
   local code = site_before and site_before(options, offset) or slurm.SUCCESS
   if code == slurm.SUCCESS and options.type == "srun" and options.gres and has_ipus(options) then
      take_models_out(options)
   end
   return code
end

function slurm_cli_post_submit(offset, job, step)
   return site_after and site_after(offset, job, step) or slurm.SUCCESS
end

return slurm.SUCCESS
