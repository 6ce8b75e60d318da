import t from 'tap'
import { apiAttachment } from '../../../../ipkeeper-server/cli/manifests/api-attachment.ts'

t.test('a definition of the API is read as kubectl would write it', t => {
  const config = '{\n  "type": "macvlan"\n}'
  const metadata = { name: 'lan', namespace: 'shop', uid: 'u', managedFields: [{}] }
  const kind = 'NetworkAttachmentDefinition'
  t.strictSame(apiAttachment({ apiVersion: 'k8s.cni.cncf.io/v1', kind, metadata, spec: { config } }), {
    namespace: 'shop',
    name: 'lan',
    file: {
      path: 'net-attach-def/shop/lan',
      name: 'lan.yaml',
      text: `kind: ${kind}
metadata:
  namespace: shop
  name: lan
spec:
  config: |-
    {
      "type": "macvlan"
    }
`,
    },
  })
  t.match(apiAttachment({ kind, metadata }).file.text, /name: lan\n$/, 'without a spec')
  t.end()
})
