"""The crawler: Scrapy fetches, :class:`~fairseq_xl.corpus.crawling.pages.Pages` remembers.

Scrapy's own queue does not survive a kill. The spider therefore takes a few addresses at a time from those that wait in
``Pages``, and writes every outcome there at once. Redirects are addresses like any other. Each is fetched once, which
ends every loop.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest, StopDownload
from scrapy.http import Request, Response

from fairseq_xl.corpus.crawling import pages as kept
from fairseq_xl.corpus.crawling.addresses import REFUSED
from fairseq_xl.corpus.crawling.counterparts import Rules
from fairseq_xl.corpus.crawling.html import is_html
from fairseq_xl.corpus.crawling.pages import Pages
from fairseq_xl.corpus.crawling.site import CrawlSettings, host_of
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar

_REDIRECTS = {301, 302, 303, 307, 308}


def crawl(pages: Pages, rules: Rules, settings: CrawlSettings) -> None:
    """Fetch what waits in ``pages``, and what is found there, until nothing waits.

    Twisted's reactor, which Scrapy runs in, cannot be started twice: a process can do this once. The first Ctrl-C
    lets the requests under way end.

    Raises:
        InputError: the crawl ended before the site was done.
        KeyboardInterrupt: Ctrl-C or a signal to terminate.
    """
    # Scrapy shows a traceback if it cannot get robots.txt, for example from a host that does not exist.
    logging.getLogger("scrapy.downloadermiddlewares.robotstxt").setLevel(logging.CRITICAL)
    process = CrawlerProcess(scrapy_settings(settings))
    crawler = process.create_crawler(SiteSpider)
    process.crawl(crawler, pages=pages, rules=rules, settings=settings)
    process.start()
    assert isinstance(crawler.spider, SiteSpider)
    if crawler.spider.ended_by == "shutdown":
        raise KeyboardInterrupt
    limited = 0 < settings.max_pages <= pages.count("kept")
    if pages.count("waiting") and not limited:
        raise InputError(f"{pages.folder}: the crawl ended early: start it again, and it goes on")


def scrapy_settings(settings: CrawlSettings) -> dict[str, Any]:
    """Scrapy's settings for ours."""
    chosen = {
        # The report counts and lists what cannot be fetched. Anything else that is logged is a defect.
        "LOG_LEVEL": "ERROR",
        "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
        "USER_AGENT": settings.user_agent,
        "ROBOTSTXT_OBEY": settings.robots,
        "DOWNLOAD_DELAY": settings.delay,
        "CONCURRENT_REQUESTS": settings.concurrent,
        "CONCURRENT_REQUESTS_PER_DOMAIN": settings.concurrent,
        "DOWNLOAD_TIMEOUT": settings.timeout,
        "DOWNLOAD_MAXSIZE": int(settings.max_megabytes * 2**20),
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_HANDLERS": dict.fromkeys(("data", "file", "ftp", "s3")),
        "DOWNLOADER_MIDDLEWARES": {f"{__name__}.OnlyTheSite": 50},
        # Pages are kept as they came, so no small answer can unfold into a large one.
        "COMPRESSION_ENABLED": False,
        # A proxy would connect for us, to addresses that nobody checks.
        "HTTPPROXY_ENABLED": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "REFERER_ENABLED": False,
        "RETRY_TIMES": 2,
        "URLLENGTH_LIMIT": 0,
    }
    if not settings.allow_private:
        chosen["TWISTED_DNS_RESOLVER"] = "fairseq_xl.corpus.crawling.addresses.PublicResolver"
    return chosen


class OnlyTheSite:
    """The last guard: no request leaves the hosts of the site, robots.txt and its redirects among them."""

    def __init__(self, crawler: Crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> OnlyTheSite:
        """As Scrapy makes it."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise IgnoreRequest for another host or scheme."""
        scheme = urlsplit(request.url).scheme
        spider = self.crawler.spider
        assert isinstance(spider, SiteSpider)
        if scheme not in ("http", "https") or host_of(request.url) not in spider.rules.site.hosts:
            raise IgnoreRequest("another host")


class SiteSpider(scrapy.Spider):
    """Fetch what waits in ``pages`` until nothing does."""

    name = "site"

    def __init__(self, pages: Pages, rules: Rules, settings: CrawlSettings):
        super().__init__()
        self.pages, self.rules = pages, rules
        self.limit, self.concurrent = settings.max_pages or sys.maxsize, settings.concurrent
        self.under_way: set[str] = set()
        self.user_agent, self.delay = settings.user_agent, settings.delay
        self.bar = progress_bar("crawl", True, None, " pages", done=pages.count("kept"))
        self.queue = pages.count("waiting")
        self.ended_by = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **options: Any) -> SiteSpider:
        """As Scrapy makes it."""
        spider = super().from_crawler(crawler, *args, **options)
        crawler.signals.connect(spider.stop_what_is_no_page, signals.headers_received)
        crawler.signals.connect(spider.obey_delay, signals.robots_parsed)
        return spider

    def closed(self, reason: str) -> None:
        """Scrapy calls this at the end. The reason is ``shutdown`` after a signal."""
        self.ended_by = reason
        self.bar.close()

    async def start(self) -> AsyncIterator[Request]:
        """The first requests. Each that ends asks for more."""
        for request in self.more():
            yield request

    def more(self) -> Iterator[Request]:
        """As many requests as may be under way, without any that the page limit would waste."""
        left = min(self.concurrent, self.limit - self.bar.n) - len(self.under_way)
        for url in self.pages.waiting(len(self.under_way) + left) if left > 0 else ():
            if url not in self.under_way and left > 0:
                left -= 1
                self.under_way.add(url)
                yield Request(
                    url,
                    callback=self.arrived,
                    errback=self.failed,
                    cb_kwargs={"url": url},
                    dont_filter=True,  # Pages knows what was asked
                    meta={"dont_redirect": True, "handle_httpstatus_all": True},
                )

    def stop_what_is_no_page(self, headers: Any, request: Request, **_: Any) -> None:
        """Scrapy's signal when an answer's headers are there. The body is not fetched if it is not HTML."""
        kind = (headers.get("Content-Type") or b"").decode("latin-1")
        if request.callback == self.arrived and kind and not is_html(kind, b""):
            raise StopDownload(fail=False)

    def obey_delay(self, robotparser: Any, request: Request, **_: Any) -> None:
        """Scrapy's signal when a robots.txt was read. The crawler waits as long between requests as it asks."""
        delay = robotparser.crawl_delay(self.user_agent)
        if delay and delay > self.delay:
            downloader = self.crawler.engine.downloader
            key = downloader.get_slot_key(request)
            downloader.per_slot_settings[key] = {"delay": delay}
            if key in downloader.slots:
                downloader.slots[key].delay = delay

    def arrived(self, response: Response, url: str) -> Iterator[Request]:
        """Keep a page or note why not, and go on."""
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        ]
        status, kind = response.status, kept.header(headers, "content-type")
        location = kept.header(headers, "location")
        if status in _REDIRECTS and location:
            self.redirected(response, url, location)
        elif not 200 <= status < 300:
            self.pages.leave(url, kept.FAILED, str(status), status)
        elif kept.header(headers, "content-encoding") not in (None, "identity"):
            self.pages.leave(url, kept.NOT_HTML, "compressed, which was not asked for", status)
        elif "download_stopped" in response.flags or not is_html(kind, response.body):
            self.pages.leave(url, kept.NOT_HTML, kind or "no content type", status)
        else:
            self.queue += self.pages.keep(url, response.body, self.rules, status, headers)
            self.bar.update()
        yield from self.ended(url)

    def ended(self, url: str) -> Iterator[Request]:
        """Ask for others when an address is done."""
        self.queue -= 1
        self.bar.set_postfix(queue=self.queue, refresh=False)
        self.under_way.remove(url)
        yield from self.more()

    def redirected(self, response: Response, url: str, location: str) -> None:
        """Note where an address leads. The destination waits if it is on the site."""
        target = self.rules.site.address(location, url)
        self.pages.leave(url, kept.REDIRECT, location, response.status, target)
        hops = self.pages.hops(url) + 1
        if target and hops <= kept.MOST_HOPS and self.rules.site.holds(target):
            self.queue += len(self.pages.add([target], url, kept.COUNTERPART_FIRST, hops))

    def failed(self, failure: Any) -> Iterator[Request]:
        """Note why nothing came."""
        url, error = failure.request.cb_kwargs["url"], failure.value
        host = urlsplit(url).hostname
        if isinstance(error, DownloadCancelledError):
            state, why = kept.TOO_LARGE, "larger than max_megabytes"
        elif isinstance(error, IgnoreRequest):
            state, why = kept.FORBIDDEN, "robots.txt"
        elif isinstance(error, CannotResolveHostError) and host in REFUSED:
            state, why = kept.PRIVATE, "allow_private is false"
        else:
            state, why = kept.FAILED, type(error).__name__.removesuffix("Error")
        self.pages.leave(url, state, why)
        yield from self.ended(url)
