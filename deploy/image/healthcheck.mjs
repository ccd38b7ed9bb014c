// The image's health check: asks /livez where the variables say that the admin port is. It asks for
// liveness and not for readiness, so that an absent Redis gets nothing restarted.
import { get } from 'node:http';

const { SLUICE_ADMIN_HOST: host = '', SLUICE_ADMIN_PORT: port = '' } = process.env;
const everywhere = ['', '0.0.0.0', '::'].includes(host);

function unhealthy(reason) {
  console.error(reason);
  process.exit(1);
}

get({
  host: everywhere ? '127.0.0.1' : host,
  port: port === '' ? 9090 : Number(port),
  path: '/livez',
  timeout: 2000,
})
  .on('response', ({ statusCode }) => {
    if (statusCode === 200) process.exit(0);
    unhealthy(`/livez answered ${statusCode}`);
  })
  .on('timeout', () => unhealthy('/livez did not answer within 2 s'))
  .on('error', ({ message }) => unhealthy(message));
