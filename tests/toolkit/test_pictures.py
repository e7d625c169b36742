"""Pictures on the device: planes of JPEG, PNG as Pillow reads it, resize as OpenCV does it, bad input."""

import ctypes
import io
import struct
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image
from toolkit.pyacl import TOOLKIT, initialized

GRAY, NV12, NV21, YUV422, YUV444, RGB, BGR, RGBA = 0, 1, 2, 3, 5, 12, 13, 16
SUBSAMPLING = {GRAY: None, NV12: (2, 2), NV21: (2, 2), YUV422: (2, 1), YUV444: (1, 1)}
CHANNELS = {RGB: 3, BGR: 3, RGBA: 4}
TO_DEVICE, TO_HOST = 1, 2
INVALID = 100000


@pytest.fixture(scope="module")
def acl():
    return initialized()


@pytest.fixture(scope="module")
def library():
    return ctypes.CDLL(str(TOOLKIT.parent / "lib" / "cann" / "libacl_dvpp.so"))


@pytest.fixture
def device(acl, library):
    assert acl.rt.set_device(0) == 0
    device = Device(acl, library)
    yield device
    device.close()
    assert acl.rt.reset_device(0) == 0


class Device:
    """A stream and a channel; memory and descriptions that end with it."""

    def __init__(self, acl, library):
        self.acl, self.media, self.library = acl, acl.media, library
        self.stream, ret = acl.rt.create_stream()
        assert ret == 0
        self.channel = self.media.dvpp_create_channel_desc()
        assert self.media.dvpp_create_channel(self.channel) == 0
        self.blocks = []

    def close(self):
        assert self.media.dvpp_destroy_channel(self.channel) == 0
        assert self.media.dvpp_destroy_channel_desc(self.channel) == 0
        for block in self.blocks:
            assert self.media.dvpp_free(block) == 0
        assert self.acl.rt.destroy_stream(self.stream) == 0

    def memory(self, size: int) -> int:
        block, ret = self.media.dvpp_malloc(size)
        assert ret == 0
        self.blocks.append(block)
        return block

    def upload(self, data: bytes) -> int:
        block = self.memory(len(data))
        pointer = self.acl.util.bytes_to_ptr(data)
        assert self.acl.rt.memcpy(block, len(data), pointer, len(data), TO_DEVICE) == 0
        return block

    def download(self, address: int, size: int) -> np.ndarray:
        host = np.empty(size, np.uint8)
        assert self.acl.rt.memcpy(host.ctypes.data, size, address, size, TO_HOST) == 0
        return host

    def wait(self) -> int:
        return self.acl.rt.synchronize_stream(self.stream)

    def call(self, name: str, *arguments) -> int:
        """A function without a name in Python: handles and addresses are whole numbers."""
        return getattr(self.library, name)(
            *(ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments)
        )


class Picture:
    """A picture's memory and description, of planes given or to be written."""

    def __init__(self, device: Device, fmt: int, width: int, height: int, planes=None, pad=0):
        self.device, self.fmt, self.size = device, fmt, (width, height)
        channels = CHANNELS.get(fmt, 1)
        self.stride = (width * channels + 15) // 16 * 16 + pad
        self.rows = (height + 1) // 2 * 2 + (2 if pad else 0)
        luma = self.stride * self.rows
        half = SUBSAMPLING.get(fmt)
        self.bytes = luma + (0 if half is None else luma // half[1] * (2 if half[0] == 1 else 1))
        self.address = device.memory(self.bytes)
        if planes is not None:
            self.write(planes)
        media = device.media
        self.desc = media.dvpp_create_pic_desc()
        fields = {
            "data": self.address,
            "size": self.bytes,
            "format": fmt,
            "width": width,
            "height": height,
            "width_stride": self.stride,
            "height_stride": self.rows,
        }
        for name, value in fields.items():
            assert getattr(media, f"dvpp_set_pic_desc_{name}")(self.desc, value) == 0

    def _shapes(self):
        width, height = self.size
        yield 0, self.stride, height, width * CHANNELS.get(self.fmt, 1)
        if (half := SUBSAMPLING.get(self.fmt)) is not None:
            stride = self.stride * (2 if half[0] == 1 else 1)
            columns, lines = -(-width // half[0]), -(-height // half[1])
            yield self.stride * self.rows, stride, lines, 2 * columns

    def write(self, planes) -> None:
        whole = np.zeros(self.bytes, np.uint8)
        for plane, (first, stride, lines, row) in zip(planes, self._shapes(), strict=True):
            view = np.lib.stride_tricks.as_strided(whole[first:], (lines, row), (stride, 1))
            view[:] = plane.reshape(lines, row)
        acl = self.device.acl
        copied = acl.rt.memcpy(self.address, self.bytes, whole.ctypes.data, self.bytes, TO_DEVICE)
        assert copied == 0

    def read(self) -> list[np.ndarray]:
        whole = self.device.download(self.address, self.bytes)
        planes = []
        for first, stride, lines, row in self._shapes():
            view = np.lib.stride_tricks.as_strided(whole[first:], (lines, row), (stride, 1))
            planes.append(view.copy())
        channels = CHANNELS.get(self.fmt, 1)
        width, height = self.size
        planes[0] = planes[0].reshape(height, width, channels) if channels > 1 else planes[0]
        return planes


def jpeg_of(image: Image.Image, quality: int = 90, subsampling: int = 2, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality, subsampling=subsampling, **options)
    return out.getvalue()


def noise(width: int, height: int, mode: str = "YCbCr") -> Image.Image:
    """Smooth random colours: every frequency, without saturation."""
    channels = 1 if mode == "L" else 3
    small = np.random.default_rng(width).integers(
        40, 216, (height // 4 + 2, width // 4 + 2, channels)
    )
    widened = cv2.resize(small.astype(np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    widened = widened.reshape(height, width, channels)
    return Image.fromarray(widened[..., 0] if mode == "L" else widened, mode)


def decode(device: Device, data: bytes, out: Picture) -> int:
    block = device.upload(data)
    ret = device.media.dvpp_jpeg_decode_async(
        device.channel, block, len(data), out.desc, device.stream
    )
    return ret or device.wait()


@pytest.mark.parametrize("size", [(64, 48), (130, 67), (17, 1), (1, 33)])
def test_planes_of_444_are_those_that_pillow_decodes(device, size):
    data = jpeg_of(noise(*size), 80, 0)
    planes = _ycbcr(data)
    out = Picture(device, YUV444, *size, pad=16)
    assert decode(device, data, out) == 0, device.acl.get_recent_err_msg()
    luma, chroma = out.read()
    np.testing.assert_array_equal(luma, planes[..., 0])
    np.testing.assert_array_equal(chroma.reshape(size[1], size[0], 2), planes[..., 1:])


def _ycbcr(data: bytes) -> np.ndarray:
    """The file's own planes: Pillow converts nothing where it is told that they are wanted."""
    image = Image.open(io.BytesIO(data))
    image.draft("YCbCr", image.size)
    assert image.mode == "YCbCr"
    return np.asarray(image)


def chroma_steps(width: int, height: int) -> tuple[np.ndarray, Image.Image]:
    """Chroma that is constant in blocks of 16 pixels, which quality 100 stores exactly, and a picture with it."""
    rng = np.random.default_rng(width)
    blocks = rng.integers(0, 256, (height // 16 + 1, width // 16 + 1, 2)).astype(np.uint8)
    chroma = blocks.repeat(16, 0).repeat(16, 1)[:height, :width]
    luma = np.asarray(noise(width, height, "L"))
    return chroma, Image.fromarray(np.dstack([luma, chroma]), "YCbCr")


@pytest.mark.parametrize("fmt", [NV12, NV21, YUV422, YUV444])
@pytest.mark.parametrize("subsampling", [0, 1, 2], ids=["444", "422", "420"])
@pytest.mark.parametrize("size", [(64, 48), (131, 67)])
def test_every_subsampling_becomes_that_of_the_output(device, size, subsampling, fmt):
    chroma, image = chroma_steps(*size)
    data = jpeg_of(image, 100, subsampling)
    out = Picture(device, fmt, *size)
    assert decode(device, data, out) == 0, device.acl.get_recent_err_msg()
    luma, got = out.read()
    np.testing.assert_array_equal(luma, _ycbcr(data)[..., 0])
    half = SUBSAMPLING[fmt]
    wanted = chroma[:: half[1], :: half[0], :: -1 if fmt == NV21 else 1]
    np.testing.assert_array_equal(got.reshape(wanted.shape), wanted)


def test_finer_chroma_is_averaged(device):
    data = jpeg_of(noise(64, 48), 80, 0)
    out = Picture(device, NV12, 64, 48)
    assert decode(device, data, out) == 0
    sums = _ycbcr(data)[..., 1:].astype(int).reshape(24, 2, 32, 2, 2).sum((1, 3))
    np.testing.assert_array_equal(out.read()[1].reshape(24, 32, 2), (sums + 2) // 4)


def test_gray_has_no_colors(device):
    gray = jpeg_of(noise(32, 32, "L"))
    out = Picture(device, NV12, 32, 32)
    assert decode(device, gray, out) == 0
    np.testing.assert_array_equal(out.read()[0], np.asarray(Image.open(io.BytesIO(gray))))
    assert (out.read()[1] == 128).all()


def test_what_a_jpeg_says_of_itself(device):
    data = jpeg_of(noise(130, 67))
    pointer = device.acl.util.bytes_to_ptr(data)
    assert device.media.dvpp_jpeg_get_image_info(pointer, len(data)) == (130, 67, 3, 0)
    size, ret = device.media.dvpp_jpeg_predict_dec_size(pointer, len(data), NV12)
    assert (size, ret) == (256 * 80 * 3 // 2, 0)


def test_an_encoded_picture_comes_back(device):
    size = (70, 46)
    planes = _ycbcr(jpeg_of(noise(*size), 95, 0))
    chroma = planes[::2, ::2, 1:]
    source = Picture(device, NV12, *size, [planes[..., 0], chroma], pad=32)
    media = device.media
    config = media.dvpp_create_jpege_config()
    assert media.dvpp_set_jpege_config_level(config, 100) == 0
    assert media.dvpp_set_jpege_config_level(config, 101) == INVALID
    room, ret = media.dvpp_jpeg_predict_enc_size(source.desc, config)
    assert ret == 0
    out = device.memory(room)
    length = np.array([room], np.int32)
    ret = media.dvpp_jpeg_encode_async(
        device.channel, source.desc, out, length.ctypes.data, config, device.stream
    )
    assert (ret, device.wait()) == (0, 0)
    data = device.download(out, int(length[0])).tobytes()
    back = Picture(device, NV12, *size)
    assert decode(device, data, back) == 0
    # Quality 100 divides by 1: the transforms round, by two levels at most.
    for got, wanted in zip(back.read(), [planes[..., 0], chroma.reshape(23, 70)], strict=True):
        assert np.abs(got.astype(int) - wanted).max() <= 2
    length[0] = 10
    media.dvpp_jpeg_encode_async(
        device.channel, source.desc, out, length.ctypes.data, config, device.stream
    )
    assert device.wait() == INVALID
    assert "the output 10" in device.acl.get_recent_err_msg()
    assert media.dvpp_destroy_jpege_config(config) == 0


def png_of(array: np.ndarray, mode: str) -> bytes:
    out = io.BytesIO()
    image = Image.fromarray(array, "RGB").convert("P") if mode == "P" else Image.fromarray(array)
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1"])
@pytest.mark.parametrize("fmt", [RGB, BGR, RGBA])
def test_png_is_what_pillow_reads(device, mode, fmt):
    rng = np.random.default_rng(0)
    shape = {
        "RGB": (23, 37, 3),
        "RGBA": (23, 37, 4),
        "L": (23, 37),
        "P": (23, 37, 3),
        "1": (23, 37),
    }
    array = rng.integers(0, 256, shape[mode]).astype(np.uint8)
    data = png_of(array > 127 if mode == "1" else array, mode)
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
    out = Picture(device, fmt, 37, 23)
    numbers = [ctypes.c_uint32() for _ in range(3)]
    pointer = device.acl.util.bytes_to_ptr(data)
    references = [ctypes.byref(number) for number in numbers]
    assert (
        device.call("acldvppPngGetImageInfo", pointer, ctypes.c_uint32(len(data)), *references) == 0
    )
    channels = {"RGB": 3, "RGBA": 4, "L": 1, "P": 3, "1": 1}
    assert [number.value for number in numbers] == [37, 23, channels[mode]]
    block = device.upload(data)
    length = ctypes.c_uint32(len(data))
    arguments = (device.channel, block, length, out.desc, device.stream)
    assert device.call("acldvppPngDecodeAsync", *arguments) == 0
    assert device.wait() == 0, device.acl.get_recent_err_msg()
    wanted = {RGB: expected[..., :3], BGR: expected[..., 2::-1], RGBA: expected}[fmt]
    np.testing.assert_array_equal(out.read()[0], wanted)


@pytest.mark.parametrize("fmt", [NV12, RGB, GRAY])
@pytest.mark.parametrize("to", [(224, 224), (64, 36), (600, 20), (130, 98)])
def test_resize_is_within_one_level_of_opencv(device, fmt, to):
    size = (130, 98)
    rng = np.random.default_rng(2)
    planes = [rng.integers(0, 256, (size[1], size[0] * CHANNELS.get(fmt, 1))).astype(np.uint8)]
    if fmt == NV12:
        planes.append(rng.integers(0, 256, (49, 130)).astype(np.uint8))
    source, out = Picture(device, fmt, *size, planes, pad=16), Picture(device, fmt, *to)
    config = device.media.dvpp_create_resize_config()
    ret = device.media.dvpp_vpc_resize_async(
        device.channel, source.desc, out.desc, config, device.stream
    )
    assert (ret, device.wait()) == (0, 0)
    first, *rest = out.read()
    given = planes[0].reshape(size[1], size[0], -1)
    wanted = cv2.resize(given, to, interpolation=cv2.INTER_LINEAR)
    assert np.abs(first.astype(int) - wanted.reshape(first.shape)).max() <= 1
    for plane in rest:
        half = (to[0] // 2, to[1] // 2)
        wanted = cv2.resize(planes[1].reshape(49, 65, 2), half, interpolation=cv2.INTER_LINEAR)
        assert np.abs(plane.astype(int) - wanted.reshape(plane.shape)).max() <= 1
    assert device.media.dvpp_destroy_resize_config(config) == 0


def test_an_area_is_cropped_and_pasted(device):
    rng = np.random.default_rng(3)
    planes = [rng.integers(0, 256, s).astype(np.uint8) for s in ((40, 64), (20, 64))]
    source = Picture(device, NV12, 64, 40, planes)
    before = [np.full((32, 48), 9, np.uint8), np.full((16, 48), 7, np.uint8)]
    out = Picture(device, NV12, 48, 32, before)
    media = device.media
    crop = media.dvpp_create_roi_config(10, 41, 4, 27)  # 32 x 24
    paste = media.dvpp_create_roi_config(16, 47, 2, 25)
    ret = media.dvpp_vpc_crop_and_paste_async(
        device.channel, source.desc, out.desc, crop, paste, device.stream
    )
    assert (ret, device.wait()) == (0, 0)
    wanted = [plane.copy() for plane in before]
    wanted[0][2:26, 16:48] = planes[0][4:28, 10:42]
    wanted[1][1:13, 16:48] = planes[1][2:14, 10:42]
    for got, expected in zip(out.read(), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)
    for area in ((0, 65, 0, 9), (9, 3, 0, 9), (1, 8, 0, 9)):
        bad = media.dvpp_create_roi_config(*area)
        ret = media.dvpp_vpc_crop_and_paste_async(
            device.channel, source.desc, out.desc, bad, paste, device.stream
        )
        assert ret == INVALID
        assert "the area of the crop" in device.acl.get_recent_err_msg()


def test_colors_are_converted(device):
    rgb = np.asarray(noise(48, 32).convert("RGB"))
    source, yuv = Picture(device, RGB, 48, 32, [rgb]), Picture(device, YUV444, 48, 32)
    call = ("acldvppVpcConvertColorAsync", device.channel)
    assert device.call(*call, source.desc, yuv.desc, device.stream) == 0
    assert device.wait() == 0
    luma, chroma = yuv.read()
    wanted = np.asarray(Image.fromarray(rgb).convert("YCbCr")).astype(int)  # BT.601, full range
    assert np.abs(luma - wanted[..., 0]).max() <= 1
    assert np.abs(chroma.reshape(32, 48, 2) - wanted[..., 1:]).max() <= 1
    back = Picture(device, BGR, 48, 32)
    assert device.call(*call, yuv.desc, back.desc, device.stream) == 0
    assert device.wait() == 0
    # Rounding of Y, U, V by half a level each, times the weights 1, 1.772 and 1.402.
    assert np.abs(back.read()[0][..., ::-1].astype(int) - rgb).max() <= 2
    half = Picture(device, NV21, 48, 32)
    assert device.call(*call, source.desc, half.desc, device.stream) == 0
    assert device.wait() == 0
    means = wanted[..., 1:].reshape(16, 2, 24, 2, 2).mean((1, 3))
    assert np.abs(half.read()[1].reshape(16, 24, 2)[..., ::-1] - means).max() <= 1.5


GOOD = jpeg_of(noise(64, 48))


def damaged(kind: str) -> bytes:
    data = bytearray(GOOD)
    if kind == "cut":
        return bytes(data[: len(data) // 2])
    if kind == "no end":
        return bytes(data[:-40])
    if kind == "no JPEG":
        return b"\x89PNG" + bytes(data[4:])
    if kind == "2^16 - 1 pixels":
        at = data.index(b"\xff\xc0")
        data[at + 5 : at + 9] = b"\xff\xff\xff\xff"
        return bytes(data)
    at = data.index(b"\xff\xc4") + 5  # a table of codes
    data[at : at + 12] = b"\xff" * 12
    return bytes(data)


@pytest.mark.parametrize("kind", ["cut", "no end", "no JPEG", "2^16 - 1 pixels", "codes"])
def test_damaged_jpeg_is_an_error(device, kind):
    out = Picture(device, NV12, 64, 48)
    assert decode(device, damaged(kind), out) == INVALID
    assert "JPEG" in device.acl.get_recent_err_msg()
    assert device.media.dvpp_get_pic_desc_ret_code(out.desc) == INVALID
    assert decode(device, GOOD, out) == 0
    assert device.media.dvpp_get_pic_desc_ret_code(out.desc) == 0


def test_random_damage_ends_in_an_error_or_a_picture(device):
    rng = np.random.default_rng(5)
    out = Picture(device, NV12, 64, 48)
    codes = set()
    for _ in range(60):
        data = bytearray(GOOD)
        for at in rng.integers(2, len(data), 4):
            data[at] = rng.integers(0, 256)
        codes.add(decode(device, bytes(data), out))
    assert codes <= {0, INVALID, 200006}
    assert INVALID in codes


def chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check


def png_bomb(width: int, height: int, text: bytes = b"") -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + text
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(1 << 16, 1), (1, 1 << 30), (0x7FFFFFFF, 0x7FFFFFFF), (0, 5)])
def test_png_of_impossible_sizes(device, size):
    data = png_bomb(*size)
    numbers = [ctypes.c_uint32() for _ in range(3)]
    references = [ctypes.byref(number) for number in numbers]
    pointer = device.acl.util.bytes_to_ptr(data)
    ret = device.call("acldvppPngGetImageInfo", pointer, ctypes.c_uint32(len(data)), *references)
    assert ret == INVALID
    assert "the PNG cannot be decoded: " in device.acl.get_recent_err_msg()


def test_png_bombs_take_no_memory(device):
    """A text of 1 GiB that is a megabyte in the file, and rows that are missing."""
    text = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(1 << 26), 9) * 1)
    out = Picture(device, RGB, 64, 64)
    for data in (png_bomb(64, 64, text), png_bomb(64, 64)):
        block = device.upload(data)
        arguments = (device.channel, block, ctypes.c_uint32(len(data)), out.desc, device.stream)
        assert device.call("acldvppPngDecodeAsync", *arguments) == 0
        assert device.wait() == INVALID
        assert "the PNG cannot be decoded: " in device.acl.get_recent_err_msg()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("width", 1 << 16, "each side is from 1 to 16384"),
        ("height", 1 << 31, "each side is from 1 to 16384"),
        ("width", 0, "each side is from 1 to 16384"),
        ("width_stride", 63, "a multiple of 16 from 64 on"),
        ("width_stride", 48, "a multiple of 16 from 64 on"),
        ("width_stride", 1 << 30, "bytes, where"),
        ("height_stride", 47, "an even number from 48 on"),
        ("size", 100, "has 100 bytes, where 4608 are needed"),
        ("format", 999, "implemented are YUV_400"),
        ("data", 0, "bytes of device memory"),
    ],
)
def test_wrong_descriptions_are_refused(device, field, value, says):
    media = device.media
    source, out = Picture(device, NV12, 64, 48), Picture(device, NV12, 64, 48)
    config = media.dvpp_create_resize_config()
    for bad in (source, out):
        good = {"data": bad.address, "size": bad.bytes, "format": NV12, "width": 64, "height": 48}
        good |= {"width_stride": bad.stride, "height_stride": bad.rows}
        setter = getattr(media, f"dvpp_set_pic_desc_{field}")
        assert setter(bad.desc, value) == 0
        arguments = (device.channel, source.desc, out.desc, config, device.stream)
        assert media.dvpp_vpc_resize_async(*arguments) == INVALID
        assert says in device.acl.get_recent_err_msg()
        assert setter(bad.desc, good[field]) == 0
    assert media.dvpp_vpc_resize_async(*arguments) == 0
    assert device.wait() == 0


def test_misaligned_host_and_freed_memory(device):
    media, acl = device.media, device.acl
    source, out = Picture(device, NV12, 64, 48), Picture(device, NV12, 64, 48)
    config = media.dvpp_create_resize_config()
    arguments = (device.channel, source.desc, out.desc, config, device.stream)
    assert media.dvpp_set_pic_desc_data(source.desc, source.address + 8) == 0
    assert media.dvpp_vpc_resize_async(*arguments) == INVALID
    assert "no multiple of 16" in acl.get_recent_err_msg()
    host = np.zeros(10000, np.uint8)
    aligned = (host.ctypes.data + 15) // 16 * 16
    assert media.dvpp_set_pic_desc_data(source.desc, aligned) == 0
    assert media.dvpp_vpc_resize_async(*arguments) == INVALID
    assert "bytes of device memory" in acl.get_recent_err_msg()
    freed, ret = media.dvpp_malloc(source.bytes)
    assert ret == media.dvpp_free(freed) == 0
    assert media.dvpp_set_pic_desc_data(source.desc, freed) == 0
    assert media.dvpp_vpc_resize_async(*arguments) == INVALID
    assert media.dvpp_destroy_pic_desc(source.desc) == 0
    assert media.dvpp_destroy_pic_desc(source.desc) == INVALID
    assert media.dvpp_vpc_resize_async(*arguments) == INVALID
    assert "destroyed, or never made" in acl.get_recent_err_msg()
    other = media.dvpp_create_channel_desc()
    assert media.dvpp_vpc_resize_async(other, *arguments[1:]) == INVALID
    assert "call acldvppCreateChannel first" in acl.get_recent_err_msg()
