# Cadenza as an image: the wheel with its web app built in the first stage, installed in the second.
# Nothing in the image is secret; settings come from the environment, data lies in /data.
# This file is checked for the commands and settings that it names (tests/repository/test_deploy.py);
# it is not built by our tests, which run where there is no Docker.

FROM python:3.13-slim AS build
WORKDIR /source
COPY requirements/build.txt requirements/web.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/build.txt -r requirements/web.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY web web
COPY src src
RUN python hatch_build.py \
    && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.13-slim
COPY requirements/runtime.txt /tmp/runtime.txt
RUN pip install --no-cache-dir --require-hashes -r /tmp/runtime.txt && rm /tmp/runtime.txt
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-deps /wheels/*.whl && rm -r /wheels \
    && useradd --system --uid 10001 --home-dir /data cadenza \
    && mkdir /data && chown cadenza /data && chmod 700 /data
USER cadenza
WORKDIR /data
VOLUME /data
ENV CADENZA_DATA=/data CADENZA_LISTEN_HOST=0.0.0.0 CADENZA_LOG=json CADENZA_LOG_LEVEL=info
EXPOSE 8400
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --start-period=20s CMD ["python", "-c", \
  "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8400/readyz', timeout=3)"]
CMD ["cadenza", "up"]
