import type { OtherWords } from './framework/meant-word.ts'

/** Words that people type because other tools have them, and the commands that do what they mean. Only "did you mean" uses them. */
export const toolWords: OtherWords = {
  leases: ['ls', 'list', 'ps', 'get', 'ips', 'pods', 'addresses', 'allocations'],
  attachments: ['interfaces', 'endpoints', 'sandboxes', 'containers'],
  pools: ['ippools', 'ranges', 'subnets', 'usage', 'capacity', 'top'],
  who: ['show', 'find', 'describe', 'lookup', 'whois', 'ip', 'address', 'pod', 'search'],
  history: ['log', 'timeline'],
  reserve: ['add', 'create', 'assign', 'allocate', 'pin', 'set'],
  unreserve: ['unpin', 'unassign'],
  release: ['remove', 'rm', 'delete', 'del', 'free'],
  explain: ['why', 'simulate', 'plan'],
  audit: ['verify', 'compare'],
  status: ['info', 'ready'],
  'forget-node': ['remove-node', 'delete-node', 'rm-node'],
  flights: ['logs', 'trace', 'calls', 'errors'],
  try: ['test', 'run', 'exec', 'wire'],
  backup: ['dump', 'save', 'snapshot', 'export'],
  restore: ['load'],
  rescue: ['recover', 'salvage'],
  doctor: ['check', 'diagnose', 'diag', 'debug', 'troubleshoot', 'health', 'fix', 'repair'],
  bundle: ['sysdump', 'sosreport', 'bugreport', 'support', 'collect', 'must-gather'],
  lint: ['validate', 'conflist'],
  'check-config': ['config'],
}

export const serverWords: OtherWords = {
  serve: ['start', 'run', 'daemon', 'server', 'up'],
  'check-config': ['validate', 'lint', 'config', 'test'],
  install: ['setup', 'deploy'],
  uninstall: ['remove', 'purge'],
}
