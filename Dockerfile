# The README's first command builds the image: it installs everything, trains on a generated corpus, and fails where the
# translations are poor. `docker build --tag fairseq_xl .`, then `docker run --rm fairseq_xl fairseq-xl doctor`.
FROM python:3.12-slim
WORKDIR /fairseq_xl
COPY . .
RUN bash recipes/quickstart.sh
ENV PATH=/fairseq_xl/.venv/bin:$PATH
CMD ["fairseq-xl", "--help"]
