import t from 'tap'
import { groupPath, resourcePath } from '../../../ipkeeper-server/kubernetes/api-path.ts'

t.test('paths', t => {
  for (const [path, expected] of [
    [() => groupPath('v1'), '/api/v1'],
    [() => groupPath('apps/v1'), '/apis/apps/v1'],
    [() => groupPath('argoproj.io/v1alpha1'), '/apis/argoproj.io/v1alpha1'],
    [() => resourcePath('v1', 'pods'), '/api/v1/pods'],
    [
      () => resourcePath('apps/v1', 'deployments', { namespace: 'shop', name: 'web' }),
      '/apis/apps/v1/namespaces/shop/deployments/web',
    ],
    [
      () =>
        resourcePath('rbac.authorization.k8s.io/v1', 'roles', {
          namespace: 'a',
          name: 'system:x y'.replace(' ', '?'),
        }),
      '/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles/system%3Ax%3Fy',
    ],
  ] as const) {
    t.equal(path(), expected)
  }
  t.end()
})

t.test('no name leads elsewhere', t => {
  for (const name of ['', '.', '..', '../secrets', 'a/b', 'a%2fb', 'a b', 'a\nb', 'x'.repeat(254)]) {
    t.throws(() => resourcePath('v1', 'pods', { namespace: 'shop', name }), RangeError, JSON.stringify(name))
    t.throws(() => resourcePath('v1', 'pods', { namespace: name, name: 'a' }), RangeError)
  }
  for (const version of [
    '',
    '../v1',
    'apps/v1/x',
    '/v1',
    'apps/',
    'Apps/v1',
    'apps/v1?x',
    'a b/v1',
    '.a/v1',
  ]) {
    t.throws(() => groupPath(version), RangeError, JSON.stringify(version))
  }
  t.end()
})
