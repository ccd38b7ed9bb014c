# docker build -t sluice .
# For a build that can be repeated to the byte, give the base by its digest:
# --build-arg NODE_IMAGE=node:24-slim@sha256:...
ARG NODE_IMAGE=node:24-slim

# What the service needs at run time, exactly as the lock file has it.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error

# The same two steps as in a clone: install all of it, build.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY src src
RUN node src/prepare.mjs && rm dist/.made-of

FROM ${NODE_IMAGE}
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="A rate-limit decision service: Check(key, policy) over REST and gRPC, exact, on Redis or in memory." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# All settings are variables. A container listens on all interfaces: what may reach it is for the
# network around it to say.
ENV NODE_ENV=production \
    SLUICE_POLICIES=/etc/sluice/policies \
    SLUICE_HTTP_HOST=0.0.0.0 \
    SLUICE_GRPC_HOST=0.0.0.0 \
    SLUICE_ADMIN_HOST=0.0.0.0 \
    SLUICE_LOG_FORMAT=json

WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY proto proto
COPY deploy/image/healthcheck.mjs ./
# Examples, for a first start; mount your own here.
COPY config/policies /etc/sluice/policies

# Owned by root and written by nobody; it needs no folder to write to.
USER 65532:65532
# REST, gRPC, health and metrics
EXPOSE 8080 8081 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "healthcheck.mjs"]
# node is process 1 and gets SIGTERM itself.
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
