-- Starts `mongo-tables lsp` for pages and shared pipelines, in Neovim 0.7 and newer.

local name = "mongo_tables"
local config = {
  name = name,
  cmd = vim.g.mongo_tables_cmd or { "mongo-tables", "lsp" },
  filetypes = { "markdown", "mdx", "json" },
  root_markers = { "mkdocs.yml", "properdocs.yml", "zensical.toml", "mongo-tables.toml", ".git" },
}

-- What the server offers comes by CTRL-X CTRL-O, and by itself where Neovim can.
function config.on_attach(client, buffer)
  if vim.lsp.completion then
    vim.lsp.completion.enable(true, client.id, buffer, { autotrigger = true })
  else
    vim.api.nvim_buf_set_option(buffer, "omnifunc", "v:lua.vim.lsp.omnifunc")
  end
end

-- CTRL-X CTRL-O replaces what stands before the cursor. Of a name that is completed in its middle the rest, which the
-- server tells with an item, would stay behind what was taken.
local function remove_rest()
  local taken = vim.v.completed_item
  local item = vim.tbl_get(taken, "user_data", "nvim", "lsp", "completion_item") or {}
  local rest = type(item.data) == "table" and item.data.replaced_behind or nil
  if not rest then
    return
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  -- It may have been left again, or the text may have changed.
  if vim.endswith(line:sub(1, column), taken.word) and vim.startswith(line:sub(column + 1), rest) then
    vim.api.nvim_buf_set_text(0, row - 1, column, row - 1, column + #rest, {})
  end
end

if not vim.lsp.completion then
  vim.api.nvim_create_autocmd("CompleteDone", { callback = remove_rest })
end

-- Without the program there is nothing to start: that is said once, at the first page.
if vim.fn.executable(config.cmd[1]) == 0 then
  local function tell()
    vim.notify("mongo-tables: the program `" .. config.cmd[1] .. "` is not found", vim.log.levels.WARN)
  end
  vim.api.nvim_create_autocmd("FileType", { pattern = { "markdown", "mdx" }, callback = tell, once = true })
  return
end

if vim.lsp.config then
  vim.lsp.config(name, config)
  vim.lsp.enable(name)
  return
end

-- Before 0.11 whoever wants a server starts it: one for each folder.

local function find_root(page)
  local above = vim.fn.fnamemodify(page, ":p:h") .. ";"
  for _, marker in ipairs(config.root_markers) do
    local file = vim.fn.findfile(marker, above)
    local found = file ~= "" and file or vim.fn.finddir(marker, above)
    if found ~= "" then
      return vim.fn.fnamemodify(found, ":p"):gsub("/$", ""):gsub("/[^/]*$", "")
    end
  end
end

local clients = {}

local function attach(event)
  local root = find_root(event.file)
  if root then
    clients[root] = clients[root] or vim.lsp.start_client(vim.tbl_extend("error", config, { root_dir = root }))
    vim.lsp.buf_attach_client(event.buf, clients[root])
  end
end

vim.api.nvim_create_autocmd("FileType", { pattern = config.filetypes, callback = attach })
