import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';

/**
 * Knows the streams that are open, so that closing can end them: those of health and reflection
 * stay open for as long as the client likes, and a shutdown would wait for them.
 */
export function createStreams(): { interceptor: ServerInterceptor; end(): void } {
  const open = new Set<ServerInterceptingCall>();
  return {
    interceptor({ responseStream }, call) {
      if (!responseStream) return new ServerInterceptingCall(call);
      const stream: ServerInterceptingCall = new ServerInterceptingCall(call, {
        start(next) {
          open.add(stream);
          next({ onCancel: () => open.delete(stream) });
        },
      });
      return stream;
    },
    end() {
      const details = 'Sluice shuts down; ask another instance';
      for (const stream of open) stream.sendStatus({ code: status.UNAVAILABLE, details });
    },
  };
}
