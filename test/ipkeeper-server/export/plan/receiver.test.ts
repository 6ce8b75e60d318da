import t from 'tap'
import {
  formatReceiver,
  parseReceiver,
  receiverFault,
} from '../../../../ipkeeper-server/export/plan/receiver.ts'

for (const [text, receiver] of [
  ['tcp://192.0.2.10:514', { protocol: 'tcp', host: '192.0.2.10', port: 514 }],
  ['udp://[fd00::1]:514', { protocol: 'udp', host: 'fd00::1', port: 514 }],
  ['tls://logs.example.org:6514', { protocol: 'tls', host: 'logs.example.org', port: 6514 }],
  ['tcp://syslog_1:65535', { protocol: 'tcp', host: 'syslog_1', port: 65_535 }],
] as const)
  t.test(text, t => {
    const parsed = parseReceiver(text)
    t.strictSame(parsed, receiver)
    t.equal(parsed && formatReceiver(parsed), text)
    t.end()
  })

for (const [text, why] of [
  ['', /^"" has no scheme; write tcp:\/\/HOST:PORT, /],
  ['192.0.2.10:514', /has no scheme/],
  ['http://192.0.2.10:514', /: "http" is not one of tcp, tls, udp$/],
  ['TCP://192.0.2.10:514', /: "TCP" is not one of tcp, tls, udp$/],
  ['relp://192.0.2.10:514', /: "relp" is not one of/],
  ['unix:///dev/log', /take datagrams, which Node\.js cannot send; .*udp:\/\/127\.0\.0\.1:514$/],
  ['tcp://192.0.2.10', /has no port at its end; usual are tcp:\/\/HOST:514, /],
  ['tcp://192.0.2.10:', /has no port/],
  ['tcp://192.0.2.10:514/', /has no port/],
  ['tcp://192.0.2.10:0', /: port 0 is not one from 1 to 65535$/],
  ['tcp://192.0.2.10:65536', /: port 65536 is not one from 1 to 65535$/],
  ['tcp://fd00::1:514', /has no host such as logs\.example\.org, 192\.0\.2\.10 or \[fd00::1\] before/],
  ['tcp://:514', /has no host/],
  ['tcp://a b:514', /has no host/],
  ['tcp://a\nb:514', /has no host/],
  ['tcp://-a:514', /has no host/],
  ['tls://user:secret@192.0.2.10:6514', /^has a user or a password/],
] as const)
  t.test(`no receiver: ${JSON.stringify(text)}`, t => {
    t.equal(parseReceiver(text), undefined)
    t.match(receiverFault(text), why)
    t.notMatch(receiverFault(text), /secret/)
    t.end()
  })
